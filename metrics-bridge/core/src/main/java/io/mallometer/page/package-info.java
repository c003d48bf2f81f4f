/**
 * A page for people: one HTML document that asks the views beside it and draws what they answer. A
 * server of the views serves the page under any name in the same folder.
 */
@NullMarked
package io.mallometer.page;

import org.jspecify.annotations.NullMarked;
