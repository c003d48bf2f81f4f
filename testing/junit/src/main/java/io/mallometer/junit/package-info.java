@NullMarked
package io.mallometer.junit;

import org.jspecify.annotations.NullMarked;
