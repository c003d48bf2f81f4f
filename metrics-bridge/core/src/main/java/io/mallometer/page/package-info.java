/**
 * A page for people: one HTML document that requests the views beside it and draws the answers. A
 * server of the views serves the page under any name in the same folder.
 */
@NullMarked
package io.mallometer.page;

import org.jspecify.annotations.NullMarked;
