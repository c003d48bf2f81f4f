package io.mallometer.view;

import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import java.util.function.Function;

/**
 * A list whose elements are made when they are looked at, each time anew: ten thousand call sites
 * with their stacks as text are more than a small heap may have room for.
 */
final class MappedRows<T, R> extends AbstractList<R> implements RandomAccess {

  private final List<T> rows;
  private final Function<T, R> mapping;

  MappedRows(List<T> rows, Function<T, R> mapping) {
    this.rows = rows;
    this.mapping = mapping;
  }

  @Override
  public R get(int index) {
    return mapping.apply(rows.get(index));
  }

  @Override
  public int size() {
    return rows.size();
  }
}
