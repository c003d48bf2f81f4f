/**
 * A page for people: one HTML document that requests the JSON views from the same server and draws
 * them. A server serves the page in the same folder as the views, under any name.
 */
@NullMarked
package io.mallometer.page;

import org.jspecify.annotations.NullMarked;
