"""Scopes of generated statements of held-out attributes, asked: the engine's hits with their relevances, for fitting."""
import asyncio, json, random, sys
from pairs import *
from mnemic_eval import unread as U
def build(rng,fd,td,n):
    scopes=[]
    for _ in range(n):
        groups=[td.group(rng) for _ in range(rng.randint(3,6))]+[fd.group(rng) for _ in range(rng.randint(4,14))]
        st={}; qs=[]
        for g in groups:
            a=g[0][1]; st.setdefault(a,len(st))
            for q,s,l,t in g:
                if s==a and l==1: qs.append((q,'answered',a))
                elif s==a and t=='near': qs.append((q,'near',None))
        # a near question that another statement answers is rare: attributes differ
        far=[TL.group(rng)[0][0] for _ in range(3)]+[rng.choice(FAR) for _ in range(3)]
        rng.shuffle(qs); qs=qs[:14]+[(q,'far',None) for q in far]
        scopes.append((list(st),qs))
    return scopes
TL=Told('other_words.txt',False)
FAR='What is the capital of Mongolia?|How do I boil an egg?|Write a poem about rain|What is 17 times 23?|Who won the world cup in 1998?|Explain photosynthesis|Translate good night into Finnish|How does a diesel engine work?|What should a cover letter contain?|Fix this SQL query|What is a monad?|How far is the moon?|Who painted the Mona Lisa?|Summarise the French Revolution|How do I centre a div?|What is the boiling point of ethanol?'.split('|')
async def main(out,seed,n):
    rng=random.Random(seed); fd=Frames(['frames.txt'],True); td=Told('other_words.txt',True)
    rows=[]
    async with U._managers() as om:
        for i,(st,qs) in enumerate(build(rng,fd,td,n)):
            m=om(f'dev-{i}'); ids={}
            for s in st:
                r=await m.add(s)
                if r.memory_id: ids.setdefault(r.memory_id,set()).add(s)
            for q,k,a in qs:
                r=await m.search(q,top_k=10); shown=(await m.context(q)).memory_ids
                rows.append(dict(set='dev',lang='en',kind=k,text=q,relevance=r.relevance,hits=[dict(text=h.memory.content,relevance=h.relevance,score=h.score,right=a in ids.get(h.memory.memory_id,())) for h in r.hits],shown=list(shown),shown_right=any(a in ids.get(x,()) for x in shown),statements=len(st)))
    json.dump(rows,open(out,'w')); print(len(rows))
asyncio.run(main(sys.argv[1],int(sys.argv[2]),int(sys.argv[3])))
