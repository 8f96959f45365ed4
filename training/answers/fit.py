import json,math,sys
import numpy as np
log=json.load(open('devlog.json')); rows=json.load(open('dev2.json'))
# each search is logged twice (search, context): the first
by={}
i=0
right={}
for r in rows:
    for h in r['hits']: right[(r['text'],h['text'])]=h['right']
    by.setdefault(r['text'],[]).append(r['kind'])
X=[];Y=[];G=[]
seen=set()
for q,c in log:
    k=(q,tuple(x[0] for x in c))
    if k in seen: continue
    seen.add(k)
    kind=by[q][0]
    for o,t,j,l in c:
        X.append([j,l,1]); Y.append(float(right.get((q,t),False) and kind=='answered')); G.append((k,kind))
X=np.array(X);Y=np.array(Y)
def fit(X,Y,l2=1e-3):
    w=np.zeros(X.shape[1])
    for _ in range(50):
        p=1/(1+np.exp(-X@w)); g=X.T@(p-Y)+l2*w; H=(X*(p*(1-p))[:,None]).T@X+l2*np.eye(len(w)); w-=np.linalg.solve(H,g)
    return w
w=fit(X,Y); print('n',len(Y),Y.mean(),'weights judge, resemblance, base',w.round(3))
for cols in ([0,2],[1,2],[0,1,2]):
    ww=fit(X[:,cols],Y); s=X[:,cols]@ww
    best={}
    for (k,kind),v in zip(G,s): best.setdefault((k,kind),[]).append(v)
    m={kk:[max(v) for (k,kind),v in best.items() if kind==kk] for kk in('answered','near','far')}
    auc=lambda p,n: float(np.mean([(a>b)+.5*(a==b) for a in p for b in n]))
    print(cols,ww.round(2),'near',round(auc(m['answered'],m['near']),3),'far',round(auc(m['answered'],m['far']),3),'loss',round(float(np.mean(np.log1p(np.exp(-(2*Y-1)*s)))),4))
