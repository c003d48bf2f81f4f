import random, math
random.seed(3)
def draw(n, g):
    return [(k, min(1,4/k)*g) for k in range(1,n+1) if random.random()<min(1,4/k)*g]
def site(n,g,x): # x(k) = bytes beside object k
    return [(1/p, x(k)) for k,p in draw(n,g)]
def trial(rule):
    g=random.choice([1,1,1/2,1/8,1/64]); n=random.choice([300,1000,3000,20000]); n2=random.choice([300,1000,3000,20000])
    f=random.choice([1,.5,.2])   # last part of A's objects pins
    tot=100.0; m=max(1,int(n*f)); heavy=random.random()<.5
    xs={}
    def xa(k):
        if k<=n-m: return 0
        if heavy:
            if k not in xs: xs[k]=random.paretovariate(1.2)
            return xs[k]
        return 1
    # innocents hold a part q of the free memory
    q=random.choice([.02,.1,.3]); 
    A=site(n,g,xa)
    # normalise: expected sum
    norm=sum(xa(k) for k in range(n-m+1,n+1)) if not heavy else sum(xa(k) for k in range(n-m+1,n+1))
    sa=tot*(1-q)/norm
    m2=max(1,int(n2*random.choice([1,.1,.01])))
    C=site(n2,g,lambda k: (tot*q/m2) if k>n2-m2 else 0)
    S={}
    for name,ss,sc in (('A',A,sa),('C',C,1)):
        t=sum(w*x*sc for w,x in ss); v=sum(w*(w-1)*(x*sc)**2 for w,x in ss); s2=sum((w*x*sc)**2 for w,x in ss); k=sum(1 for w,x in ss if x>0)
        S[name]=(t,v,s2,k)
    return rule(S,tot),S
def low(v,var):
    if var<=0 or v<=0: return v
    sc=var/v; d=2*v/sc; s=2/(9*d); return sc/2*d*max(0,1-s-1.96*math.sqrt(s))**3
def old(S,B):
    T=sum(s[0] for s in S.values()); V=sum(s[1] for s in S.values())
    if T<=0: return None
    ok=[]
    for n,(t,v,s2,k) in S.items():
        if t<=0: continue
        q=t/T; sv=(v*(1-q)**2+max(0,V-v)*q*q)/T/T
        if k>=5 and t*t>=4*s2 and low(q,sv)>=.25*q: ok.append((t,n))
    return max(ok)[1] if ok else None
def mk(lowc,highc,kmin,quarter):
    def r(S,B):
        T=sum(s[0] for s in S.values()); V=sum(s[1] for s in S.values())
        if T<=0: return None
        c=T/B; ok=[]
        for n,(t,v,s2,k) in S.items():
            if t<=0: continue
            q=t/T; sv=(v*(1-q)**2+max(0,V-v)*q*q)/T/T
            if low(q,sv)<.25*q: continue
            if (k>=5 and t*t>=4*s2 and c>=quarter) or (lowc<=c<=highc and k>=kmin): ok.append((t,n))
        if not ok: return None
        best=max(ok)
        if best[0]<max(s[0] for s in S.values()): return None   # the largest is not named
        return best[1]
    return r

def mk2(kmin,major,top,largest,unk=True):
    def r(S,B):
        T=sum(s[0] for s in S.values()); V=sum(s[1] for s in S.values())
        if T<=0: return None
        W=max(T,B); best=max((s[0],n) for n,s in S.items()); t,v,s2,k=S[best[1]]
        q=t/T; sv=(v*(1-q)**2+max(0,V-v)*q*q)/T/T
        if k>=kmin and t>=major*W and T<=top*B and low(q,sv)>=largest*q: return best[1]
        return None
    return r
rules=[(f'k{k} major{m} top{t} low{l}',mk2(k,m,t,l)) for k in (3,5) for m in (.5,.67) for t in (1.5,2,9) for l in (.5,.25)]
data=[]
def cap(S,B): data.append(S); return None
random.seed(5)
for _ in range(1500): trial(cap)
for nm,r in [('old',old)]+rules:
    c={'A':0,'C':0,None:0}
    for S in data: c[r(S,100)]+=1
    print(nm,c)
