/**
 * What every face must show, for tests of faces here and in other modules: {@link
 * io.mallometer.FaceContract} is fed by {@link io.mallometer.HandFedInterposer}.
 */
@NullMarked
package io.mallometer;

import org.jspecify.annotations.NullMarked;
