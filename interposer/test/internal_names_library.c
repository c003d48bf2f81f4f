/* A library that frees by the C library's internal name, if somebody asks it to. */
void __libc_free(void *object);

void library_free(void *object);

void library_free(void *object) { __libc_free(object); }
