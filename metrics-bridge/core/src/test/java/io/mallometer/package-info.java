/**
 * Fakes and contracts for tests of faces (packages that publish metrics) in all modules. {@link
 * io.mallometer.FaceContract} states what each face shows of a {@link
 * io.mallometer.FakeMallometer}.
 */
@NullMarked
package io.mallometer;

import org.jspecify.annotations.NullMarked;
