/* An auditor (rtld-audit(7)) that receives every call between libraries. The loader therefore never stores the
 * address of the called function in memory. */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>

unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie) {
  (void)map, (void)namespace, (void)cookie;
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

#ifdef __x86_64__
ElfW(Addr) la_x86_64_gnu_pltenter(ElfW(Sym) * symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                                  La_x86_64_regs *registers, unsigned *flags, const char *name, long *frame_size) {
  (void)index, (void)from, (void)to, (void)registers, (void)flags, (void)name, (void)frame_size;
  return symbol->st_value;
}
#endif
