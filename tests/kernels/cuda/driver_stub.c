/* A stand-in for the CUDA driver, libcuda.so.1: each call that tfnb makes is noted in the file STUB_LOG, and does
   nothing. Addresses are numbers that nobody reads. What is asked for by another name does nothing either. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long u64;
static u64 next = 0x7f0000000000ull;
static void note(const char *n){ FILE *f=fopen(getenv("STUB_LOG"),"a"); fprintf(f,"%s\n",n); fclose(f);}
int anything(void){ note("anything"); return 0; }
static void *found(const char *name, const char *end) {
    char full[200];
    snprintf(full, 200, "%s%s", name, end);
    void *here = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return here && strcmp(full, "cuGetProcAddress") ? dlsym(here, full) : 0;
}
int cuGetProcAddress_v2(const char *name, void **place, int version, u64 flags, int *status) {
    void *function = found(name, "");
    if (!function) function = found(name, "_v2");
    if (!function) function = found(name, "_v3");
    *place = function ? function : (void *)anything;
    if (status) *status = 0;
    return 0;
}
int cuGetProcAddress(const char *s, void **p, int v, u64 fl) {
    return cuGetProcAddress_v2(s, p, v, fl, 0);
}
int cuInit(unsigned f){ note("cuInit"); return 0; }
int cuDriverGetVersion(int *v){ *v=13000; return 0; }
int cuDeviceGet(int *d,int o){ note("cuDeviceGet"); *d=0; return 0; }
int cuDeviceGetCount(int *d){ *d=1; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d){ *v = a==75?9 : a==76?0 : 1; return 0; }
int cuDevicePrimaryCtxRetain(void **c,int d) {
    note("cuDevicePrimaryCtxRetain");
    *c=(void*)(next+=4096);
    return 0;
}
int cuCtxSetCurrent(void *c){ note("cuCtxSetCurrent"); return 0; }
int cuCtxGetCurrent(void **c){ *c=(void*)next; return 0; }
int cuStreamCreate(void **s,unsigned f){ note("cuStreamCreate"); *s=(void*)(next+=4096); return 0; }
int cuMemGetInfo_v2(size_t *a, size_t *b){ *a=70ull<<30; *b=80ull<<30; return 0; }
struct props {
    int alloc, handle;
    struct {int type, id;
    } loc;
    void *sec;
    size_t max;
    unsigned short usage;
    unsigned char r[54];
};
int cuMemPoolCreate(void **p, struct props *q) {
    char b[200];
    snprintf(b,200,"cuMemPoolCreate %d %d %d %d %zu",q->alloc,q->handle,q->loc.type,q->loc.id,q->max);
    note(b);
    *p=(void*)(next+=4096);
    return 0;
}
int cuMemPoolSetAttribute(void *p,int a,void *v) {
    char b[200];
    snprintf(b,200,"cuMemPoolSetAttribute %d %llx",a,*(u64*)v);
    note(b);
    return 0;
}
int cuMemAllocFromPoolAsync(u64 *p,size_t n,void *pool,void *s) {
    note("cuMemAllocFromPoolAsync");
    *p=next;
    next+=(n+4095)/4096*4096;
    return 0;
}
int cuMemFreeAsync(u64 p,void *s){ note("cuMemFreeAsync"); return 0; }
int cuMemHostAlloc(void **p,size_t n,unsigned f) {
    note("cuMemHostAlloc");
    *p=aligned_alloc(64,(n+63)/64*64);
    return 0;
}
int cuMemFreeHost(void *p){ note("cuMemFreeHost"); return 0; }
int cuMemcpyHtoDAsync_v2(u64 d,void *s,size_t n,void *st) {
    char b[100];
    snprintf(b,100,"cuMemcpyHtoDAsync %zu",n);
    note(b);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *d,u64 s,size_t n,void *st) {
    char b[100];
    snprintf(b,100,"cuMemcpyDtoHAsync %zu",n);
    note(b);
    memset(d,0,n);
    return 0;
}
int cuLibraryLoadData(void **l,const void *c,void*a,void*b_,unsigned n,void*d,void*e,unsigned m) {
    char b[100];
    snprintf(b,100,"cuLibraryLoadData %.3s %u %u",(char*)c+1,n,m);
    note(b);
    *l=(void*)(next+=4096);
    return 0;
}
int cuLibraryEnumerateKernels(void **k,unsigned n,void *l) {
    char b[100];
    snprintf(b,100,"cuLibraryEnumerateKernels %u",n);
    note(b);
    k[0]=(void*)(next+=4096);
    return 0;
}
int cuKernelGetFunction(void **f,void *k) {
    note("cuKernelGetFunction");
    *f=(void*)(next+=4096);
    return 0;
}
int cuLaunchKernel(void*f,unsigned gx,unsigned gy,unsigned gz,unsigned bx,unsigned by,unsigned bz,unsigned sh,
        void*s,void**params,void**extra) {
    char b[300];
    snprintf(b,300,"cuLaunchKernel %u %u %u %u %u %u %u extra %d words %llu %llu %llu %llu %llu",
            gx,gy,gz,bx,by,bz,sh,extra!=0,
            *(u64*)params[0],*(u64*)params[1],*(u64*)params[2],*(u64*)params[3],*(u64*)params[5]);
    note(b);
    return 0;
}
int cuStreamBeginCapture_v2(void*s,int m) {
    char b[100];
    snprintf(b,100,"cuStreamBeginCapture %d",m);
    note(b);
    return 0;
}
int cuStreamEndCapture(void*s,void**g) {
    note("cuStreamEndCapture");
    *g=(void*)(next+=4096);
    return 0;
}
int cuGraphGetRootNodes(void*g,void**n,size_t*c) {
    note("cuGraphGetRootNodes");
    if(n) n[0]=(void*)(next+=4096);
    *c=1;
    return 0;
}
int cuGraphInstantiateWithFlags(void**e,void*g,u64 f) {
    note("cuGraphInstantiate");
    *e=(void*)(next+=4096);
    return 0;
}
int cuGraphLaunch(void*e,void*s){ note("cuGraphLaunch"); return 0; }
struct m3 {
    size_t sx, sy, sz, sl;
    int st;
    const void*sh;
    u64 sd;
    void*sa;
    void*r0;
    size_t sp, shh;
    size_t dx, dy, dz, dl;
    int dt;
    void*dh;
    u64 dd;
    void*da;
    void*r1;
    size_t dp, dhh;
    size_t w, h, d;
};
int cuGraphExecMemcpyNodeSetParams(void*e,void*n,struct m3*p,void*c) {
    char b[200];
    snprintf(b,200,"cuGraphExecMemcpyNodeSetParams %d %d %d %d %zu %zu %zu",p->st,p->sh!=0,p->dt,p->dd!=0,p->w,p->h,p->d);
    note(b);
    return 0;
}
int cuEventCreate(void**e, unsigned f){ *e=(void*)(next+=4096); return 0; }
int cuEventRecord(void*e, void*s){ return 0; }
int cuEventSynchronize(void*e){ return 0; }
int cuEventElapsedTime_v2(float*f, void*a, void*b){ *f=0.25f; return 0; }
int cuEventElapsedTime(float*f, void*a, void*b){ *f=0.25f; return 0; }
int cuStreamSynchronize(void*s){ note("cuStreamSynchronize"); return 0; }
int cuGetErrorName(int e,const char**s){ *s="STUB"; return 0; }
int cuGetErrorString(int e,const char**s){ *s="stub"; return 0; }
