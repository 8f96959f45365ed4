"""Pairs of a statement and a question, labelled by whether the statement answers it.

From frames of our own (frames.txt: attributes; other_words.txt: statements with questions in other words), and two
public sets, put by hand into the folder DATA: `nqg` (a git copy of github.com/xinyadu/nqg: SQuAD 1.1, CC BY-SA 4.0; the
files of `dev` and `test`) and `qamr` (github.com/uwnlp/qamr, MIT).
"""
import os, random, re, hashlib, subprocess, html
from collections import defaultdict

def parse(paths):
    kinds = defaultdict(dict); kind = None
    for path in paths:
        for line in open(path):
            line = line.strip()
            if not line or line.startswith('#'): continue
            if line.startswith('['): kind = line[1:-1]; continue
            name, values, stated, asked = [x.strip() for x in line.split(' | ')]
            first, *over = name.split()
            kinds[kind][first] = dict(name=first, over={o.lstrip('~') for o in over}, values=[v.strip() for v in values.split(',')],
                stated=[v.strip() for v in stated.split(';')], asked=[v.strip() for v in asked.split(';')])
    for attrs in kinds.values():
        for a in attrs.values():
            for o in a['over']:
                if o in attrs: attrs[o]['over'].add(a['name'])
    return kinds

def held(kind, name): return int(hashlib.md5(f'{kind}/{name}'.encode()).hexdigest(), 16) % 5 == 0

FEMALE = 'Odile Ingrid Fatima Mireille Ewa Hanna Zuzanna Lena Aisha Carla Petra Noor Beatriz Yuki Maud Sofia Greta Imani Clara Tess Rosa Nadia Ruth'.split()
MALE = 'Tom Sanjay Lukas Emil Bence Hugo Chidi Marek Piet Jonas Omar Felix Raj Viktor Ibrahim Oscar Diego Henrik Paul Kenji Amir Ned Gus'.split()
RELF = 'sister mother aunt daughter wife girlfriend grandmother niece'.split()
RELM = 'brother father uncle son husband boyfriend grandfather nephew'.split()
RELN = ['friend','colleague','cousin','flatmate','neighbour','boss','dentist','landlord','landlady','teacher','coach','physio','tutor','client','mentor','manager','accountant','babysitter','cleaner','electrician','therapist','mechanic','godchild','intern','lawyer','vet','gardener','caretaker','hairdresser','team lead','tax adviser','midwife','piano teacher']
THINGS = 'bike|car|washing machine|dishwasher|drill|camera|sofa|tent|laptop|phone|printer|router|piano|guitar|lawn mower|boiler|fridge|sewing machine|kayak|motorbike|watch|projector|oven|caravan|trailer|e-reader|coffee machine|stroller|violin|chainsaw|winter coat|dining table|telescope|freezer|hearing aid|safe|alarm system|heat pump|tumble dryer|scooter|canoe|record player|microscope|TV|headphones|air conditioner|garage door|bookshelf|mattress|backpack|ski boots|gym bag|bread machine|suitcase'.split('|')
PETS = ['cat','dog','rabbit','parrot','hamster','pony','tortoise','guinea pig','puppy','kitten']
EVENTS = "the summer party|Lena's wedding|the team offsite|the parents' evening|the book club|the choir concert|my graduation|the retro|the sprint review|the kickoff|the birthday party|the hike|the board meeting|the workshop|the flea market|the christening|the school play|the standup|the conference|the barbecue|Tom's farewell|the training|the reunion|the fair|my interview|the open day|the fire drill|the camp|the marathon|the yoga class|the webinar|the auction".split('|')
SERVICES = "the billing service|checkout|the search API|api.billing|the staging database|Orion|the auth service|the mail worker|payments|the data warehouse|ingest|the mobile app|the admin portal|the scheduler|the image proxy|svc-report|the CRM|the chat bot|the build server|the VPN|the wiki|the cache|edge-router|the feature store|the staging cluster|the customer portal|the ETL job|the load balancer|the webhook relay|inventory-sync".split('|')
PROJECTS = "the website relaunch|Project Heron|the kitchen renovation|the migration|the audit|the Lund contract|the thesis|the app redesign|the grant application|Atlas|the tax return|the roof repair|the pilot|the new onboarding|the report|the bathroom refit|the book|the rollout|the tender|the data cleanup|ticket 4471|the garden shed|the move|the translation".split('|')
PLACES = "the Blue Door|my gym|the dentist's practice|Cafe Lind|our office|the library|the holiday cottage|the pool|my parents' house|the barber|the bakery|the allotment|our new flat|Da Mario|the garage|the kindergarten|the clinic|the coworking space|the cabin|the museum|my storage unit|the pharmacy|the old flat|the climbing hall|the studio|the campsite|Hotel Adria|the swimming club|the warehouse|the shop".split('|')
ENTITY = {'doctor':'person','boss':'person','partner':'person','landlord':'person','neighbour':'person','carown':'thing','phoneown':'thing','computer':'thing',
 'hotel':'place','gym':'place','school':'place','club':'place','employer':'place','plead':'person','oncall':'person','repairer':'place','vet':'place','ownerteam':'person','pcontact':'person'}
INCIDENTAL = ['I talked about {s} with Nina today','{s} came up again yesterday','I have been thinking about {s} a lot','Please make a note about {s} later','I like {s} a lot','There was some trouble with {s} this week','I must not forget {s}','We argued about {s}','{s} is important to me','I told everyone about {s}','Someone asked me about {s} this morning','Nina was quite happy with {s}','We should think about {s} soon','{s} again, what a week']

class Subject:
    """One thing that is talked about, with the ways to mention it."""
    def __init__(self, kind, mentions, pronoun='its', first=False, name=None):
        self.kind, self.mentions, self.pronoun, self.first, self.name = kind, mentions, pronoun, first, name
    def fill(self, text, rng, value, other, mention=None):
        s = mention or rng.choice(self.mentions)
        text = re.sub(r'<([^|>]*)\|([^>]*)>', lambda m: m[1] if self.first else m[2], text)
        text = text.replace('{p2} own', 'mine' if self.first else f"{s}'s") if False else text.replace('{p2}', self.pronoun)
        text = text.replace('{p}', 'my' if self.first else s + ("'" if s.endswith('s') else "'s"))
        text = text.replace('{f}', rng.choice(FEMALE)).replace('{s}', s).replace('{v}', value).replace('{w}', other)
        return text[:1].upper() + text[1:]

def subject(kind, rng):
    if kind == 'person':
        r = rng.random()
        if r < .38: return Subject(kind, ['I'], 'my', True)
        if r < .72:
            pool = rng.choice(['f','m','n']); rel = rng.choice({'f':RELF,'m':RELM,'n':RELN}[pool])
            name = rng.choice(FEMALE if pool=='f' or (pool=='n' and rng.random()<.5) else MALE)
            pro = {'f':'her','m':'his','n':'her' if name in FEMALE else 'his'}[pool]
            return Subject(kind, [f'my {rel} {name}', name, f'my {rel}', name], pro, name=name)
        if r < .86:
            name = rng.choice(FEMALE+MALE); return Subject(kind, [name], 'her' if name in FEMALE else 'his', name=name)
        rel = rng.choice(RELF+RELM+RELN); return Subject(kind, [f'my {rel}', f'our {rel}' if rng.random()<.3 else f'my {rel}'], 'their')
    if kind == 'pet':
        animal = rng.choice(PETS); name = rng.choice(['Mushu','Pepper','Olga','Biscuit','Rolo','Fips','Minka','Ziggy'])
        return Subject(kind, [f'my {animal}', f'our {animal}', f'my {animal} {name}', name])
    if kind == 'thing':
        t = rng.choice(THINGS)
        if rng.random()<.25:
            n=rng.choice(FEMALE+MALE); return Subject(kind,[f"{n}'s {t}"])
        return Subject(kind, rng.choice([[f'my {t}'],[f'our {t}',f'my {t}'],[f'the {t}',f'my {t}'],[f'the new {t}',f'the {t}']]))
    return Subject(kind, [rng.choice({'event':EVENTS,'service':SERVICES,'project':PROJECTS,'place':PLACES}[kind])])

STOP=set('the a an of is are do does did what who where when which how my i in on at to for me it be s was and or'.split())
def overlap(q,st):
    a=set(re.findall(r'\w+',q.lower()))-STOP; b=set(re.findall(r'\w+',st.lower()))
    return len(a&b)/max(1,len(a))
POOLS={'rel':RELF+RELM+['friend','colleague','neighbour','boss','cousin'],'city':'Lyon Leeds Jena Porto Denver Osaka Ghent Utrecht Bristol Turin Cork Austin'.split(),'date':['4 May','the 12th of June','30 November','March 3','19 August'],
'thing':['piano','motorbike','kayak','camera','sofa','caravan','drill','bike'],'num':['4','900','5433','120','1,450','60','3,200'],'day':['Monday','Tuesday','Wednesday','Thursday','Friday'],'month':['January','March','May','July','October','December'],
'time':['6:40','half past seven','noon','22:15','two'],'firm':['Brandt & Co','Lund AB','Acme','Kowalski Ltd','Nordwind','Tessa GmbH'],'dept':['logistics','design','support','finance'],'pet':['Mushu','Pepper','Olga','Biscuit','Rolo'],'brand':['ThinkPad','Dell','Framework'],
'surname':['Okafor','Lindgren','Castelli','Bauer'],'surname2':['Osei','Faber','Moreau','Tanaka'],'lake':['Lake Garda','the Wannsee','Lake Bala'],'lang':['Rust','Kotlin','Go','Elixir','TypeScript'],'plant':['dahlias','two plum trees','lavender'],'country':['Ireland','Malta','Japan','Kenya'],
'med':['ramipril','amlodipine','candesartan'],'club':['Hull City','Red Star','the Otters','Celtic'],'nick':['Bo','Kit','Zuzu','Ace'],'lang2':['Polish','Danish','Portuguese','Korean'],'age':['7','30','41','65','80'],'place':['Cafe Lind','the Blue Door','Da Mario'],'room':['bathroom','attic','hall'],}
class Told:
    """Statements with questions that they answer in other words, and questions about the same that they do not."""
    def __init__(self,path,dev):
        lines=[l.strip() for l in open(path) if l.strip() and l[0]!='#']
        self.items=[[p.split('; ') for p in l.split(' | ')] for l in lines if (int(hashlib.md5(l.encode()).hexdigest(),16)%6==0)==dev]
        for i in self.items: i[0]=['; '.join(i[0])]
    def group(self,rng):
        st,good,near=rng.choice(self.items); st=st[0]; names=rng.sample(FEMALE+MALE,3)
        slots={'n':names[0],'n2':names[1],**{k:rng.choice(v) for k,v in POOLS.items()}}
        def fill(t,**o): return re.sub(r'\{(\w+)\}',lambda m:str({**slots,**o}[m[1]]),t)
        text=as_statement(fill(st),rng)
        out=[(as_question(fill(q),rng),text,1,'pos') for q in rng.sample(good,min(2,len(good)))]
        out+=[(as_question(fill(q),rng),text,0,'near') for q in rng.sample(near,min(2,len(near)))]
        if rng.random()<.4:
            q=rng.choice(good)
            if '{n}' in q and '{n}' in st: out.append((as_question(fill(q,n=names[2]),rng),text,0,'whose'))
        if rng.random()<.5:
            other,g2,n2=rng.choice(self.items)
            if other is not st: out.append((out[0][0],as_statement(fill(other[0]),rng),0,'other'))
        return out

PRE_S = ['FYI: ','By the way, ','Note: ','btw ','Remember that ','Just so you know, ','Update: ','For the record: ','OK so ']
PRE_Q = ['Can you remind me: ','Quick question: ','Do you remember? ','Tell me: ','Hey, ','I forgot. ','Please check: ']
POST_S = ['.','.','','!','. Thanks!','. That is all for now.',', as far as I know.',' (told on the phone).','. It rained all day.']
def as_statement(t, rng):
    if rng.random()<.2: p=rng.choice(PRE_S); t = p + (t if t.startswith('I ') else t[0].lower()+t[1:])
    t += rng.choice(POST_S)
    return t.lower() if rng.random()<.1 else t
def as_question(t, rng):
    if rng.random()<.12: t = rng.choice(PRE_Q)+t
    r = rng.random()
    if r<.12: t = t.rstrip('?').lower()
    elif r<.2: t=t.lower()
    return t

class Frames:
    def __init__(self, paths, dev):
        self.kinds = {k:{n:a for n,a in v.items() if held(k,n)==dev} for k,v in parse(paths).items()}
        self.names=list(self.kinds)
        self.w=[len(self.kinds[k])+ (40 if k=='person' else 5) for k in self.names]
    def values(self,a,rng):
        v=rng.choice(a['values']); o=rng.choice([x for x in a['values'] if x!=v] or [v]); return v,o
    def group(self, rng):
        """Yield one statement with a question that it answers and some that it does not: (question, statement, label, type)."""
        kind=rng.choices(self.names,self.w)[0]; attrs=self.kinds[kind]; s=subject(kind,rng)
        a=attrs[rng.choice(list(attrs))]; v,o=self.values(a,rng)
        st=s.fill(rng.choice(a['stated']),rng,v,o); told=[a]
        if rng.random()<.22:
            b=attrs[rng.choice(list(attrs))]
            if b is not a:
                v2,o2=self.values(b,rng); second=s.fill(rng.choice(b['stated']),rng,v2,o2,mention='I' if s.first else None)
                told.append(b); st=rng.choice([st+'. '+second, second+', and '+(st if st.startswith('I ') else st[0].lower()+st[1:])])
        st=as_statement(st,rng)
        out=[]
        q=rng.choice(told); vq,oq=(v,o) if q is a else (v2,o2)
        made=[s.fill(rng.choice(q['asked']),rng,vq,oq) for _ in range(3 if rng.random()<.6 else 1)]
        out.append((as_question(min(made,key=lambda t:overlap(t,st)),rng),st,1,'pos'))
        over={t['name'] for t in told}|set().union(*(t['over'] for t in told))
        others=[n for n in attrs if n not in over]
        if not others: return self.group(rng)
        made=[]
        for _ in range(3 if rng.random()<.6 else 1):
            n=attrs[rng.choice(others)]; nv,no=self.values(n,rng); made.append(s.fill(rng.choice(n['asked']),rng,nv,no))
        out.append((as_question(max(made,key=lambda t:overlap(t,st)),rng),st,0,'near'))
        r=rng.random()
        if r<.4:
            s2=subject(kind,rng)
            if not set(s2.mentions)&set(s.mentions) and (s2.name is None or s2.name!=s.name): out.append((as_question(s2.fill(rng.choice(q['asked']),rng,vq,oq),rng),st,0,'whose'))
        elif r<.6 and a['name'] in ENTITY and s.kind in('person','project','service','thing'):
            k2=ENTITY[a['name']]; pool=self.kinds[k2]; n=pool[rng.choice(list(pool))]
            if n['name']!='employer':
                e=Subject(k2,[v.removeprefix('a ').removeprefix('an ') if rng.random()<.5 or k2=='person' else 'the '+v.removeprefix('the ').removeprefix('a ').removeprefix('an ')],'their')
                if k2=='thing': e=Subject(k2,['my '+v.removeprefix('the ').removeprefix('a ').removeprefix('an ')])
                nv,no=self.values(n,rng); out.append((as_question(e.fill(rng.choice(n['asked']),rng,nv,no),rng),st,0,'value'))
        elif r<.72 and not s.first:
            st2=as_statement(s.fill(rng.choice(INCIDENTAL),rng,'',''),rng)
            out.append((as_question(s.fill(rng.choice(a['asked']),rng,v,o),rng),st2,0,'incidental'))
        else:
            n=attrs[rng.choice(others)]; nv,no=self.values(n,rng)
            st2=as_statement(s.fill(rng.choice(n['stated']),rng,nv,no),rng)
            if n['name'] not in q['over'] and n is not q: out.append((out[0][0],st2,0,'near'))
        return out

def show(repo, path): return subprocess.run(['git','-C',f"{os.environ['DATA']}/{repo}",'show',f'HEAD:{path}'],capture_output=True,text=True,check=True).stdout
def detok(t):
    t=t.replace('-lrb- ','(').replace(' -rrb-',')').replace('-LRB- ','(').replace(' -RRB-',')').replace("`` ",'"').replace(" ''",'"')
    t=re.sub(r" ([.,;:?!%)])",r"\1",t); t=re.sub(r" ('s|n't|'re|'ve|'ll|'d|'m|s')\b",r"\1",t); return t.strip()
def cut(t,n=44):
    w=t.split(); return ' '.join(w[:n])
def squad(rng):
    """Groups of SQuAD: a question, its sentence, and others near by."""
    train,dev=[],[]
    for part in ('dev','test'):
        src=[detok(x) for x in show('nqg',f'data/processed/src-{part}.txt').splitlines()]
        tgt=[detok(x) for x in show('nqg',f'data/processed/tgt-{part}.txt').splitlines()]
        for i,(s,q) in enumerate(zip(src,tgt)):
            if len(s.split())>30: continue
            near=[x for x in dict.fromkeys(src[max(0,i-40):i+40]) if x!=s and len(x.split())<=30]
            qs={y for x,y in zip(src[max(0,i-40):i+40],tgt[max(0,i-40):i+40]) if y==q and x!=s}
            if not near or qs: continue
            words=set(q.rstrip('?').split()); near.sort(key=lambda x:-len(words&set(x.split())))
            g=[(q,s,1,'pos'),(q,near[0],0,'near')]
            if len(near)>3: g.append((q,rng.choice(near[1:5]),0,'near'))
            (dev if i>len(src)*.93 else train).append(g)
    return train,dev
def qamr(rng):
    sent=dict(l.split('\t') for l in show('qamr','data/wiki-sentences.tsv').splitlines())
    sent={k:detok(v) for k,v in sent.items()}
    bydoc=defaultdict(list)
    for k in sent: bydoc[':'.join(k.split(':')[:3])].append(k)
    inv=defaultdict(set)
    for k,v in sent.items():
        for w in set(v.lower().split()): inv[w].add(k)
    groups=[]
    for part in ('dev','test'):
        seen=set()
        for l in show('qamr',f'data/filtered/{part}.tsv').splitlines():
            f=l.split('\t'); k,q=f[0],f[5]
            if (k,q) in seen or k not in sent or len(sent[k].split())>30: continue
            seen.add((k,q))
            same=[x for x in bydoc[':'.join(k.split(':')[:3])] if x!=k]
            count=defaultdict(float)
            for w in set(q.lower().rstrip('?').split()):
                if len(inv[w])<400:
                    for x in inv[w]: count[x]+=1/len(inv[w])
            best=sorted((x for x in count if x!=k and len(sent[x].split())<=30),key=lambda x:-count[x])[:3]
            neg=[x for x in same+best if len(sent[x].split())<=30]
            if not neg: continue
            groups.append([(q,sent[k],1,'pos'),(q,sent[rng.choice(neg)],0,'near')])
    rng.shuffle(groups); return groups[400:],groups[:400]
if __name__=='__main__':
    rng=random.Random(1); f=Frames(['frames.txt'],False); d=Frames(['frames.txt'],True)
    print({k:(len(f.kinds[k]),len(d.kinds[k])) for k in f.names}, sum(len(x) for k in (f,d) for x in k.kinds.values()))
    for _ in range(22):
        for r in f.group(rng): print(r)
        print()
    t,dv=squad(rng); print(len(t),len(dv)); print(*t[5],sep='\n'); t,dv=qamr(rng); print(len(t)); print(*t[:3],sep='\n')
