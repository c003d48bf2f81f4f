@NullMarked
package io.mallometer.samples.leaky;

import org.jspecify.annotations.NullMarked;
