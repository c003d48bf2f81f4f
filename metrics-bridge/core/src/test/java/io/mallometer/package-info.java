/**
 * What every face must show, for tests of faces here and in other modules: {@link
 * io.mallometer.FaceContract} is tested through {@link io.mallometer.FakeMallometer}.
 */
@NullMarked
package io.mallometer;

import org.jspecify.annotations.NullMarked;
