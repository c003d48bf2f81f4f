/**
 * Fakes and contracts for tests of faces in all modules: {@link io.mallometer.FaceContract} states
 * what each face shows, and is tested through {@link io.mallometer.FakeMallometer}.
 */
@NullMarked
package io.mallometer;

import org.jspecify.annotations.NullMarked;
