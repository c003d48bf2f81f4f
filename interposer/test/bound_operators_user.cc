/* Uses a library that replaces operator new and delete. If mallometer is preloaded, the program's objects must still
 * come from the library's pool, whether the program or the library frees them. */
#include <new>

#include "check.h"

extern "C" {
bool library_pool_contains(const void *object);
size_t library_pool_left();
int *library_new();
void library_delete(int *object);
void library_pairs();
void library_mixes();
}

int main() {
  if (mallometer_self) CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
  size_t left = library_pool_left();
  library_pairs();
  library_mixes();
  int *object = library_new();
  CHECK(library_pool_contains(object));
  delete object;
  object = new int(5);
  CHECK(library_pool_contains(object));
  library_delete(object);
  object = new (std::nothrow) int(5);
  CHECK(library_pool_contains(object));
  delete object;
  object = new int[5];
  CHECK(library_pool_contains(object));
  delete[] object;
  CHECK_EQUAL(library_pool_left(), left);
  return 0;
}
