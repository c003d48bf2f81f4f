/** Sends profiles to a profile store that cannot scrape this process. */
@NullMarked
package io.mallometer.push;

import org.jspecify.annotations.NullMarked;
