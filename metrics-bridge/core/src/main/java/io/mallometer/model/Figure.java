package io.mallometer.model;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Publishes a component of a record, with its meaning and unit, in JSON, the MBeans and the
 * reference documentation ({@code docs/reference}). Components without the annotation are not
 * published. An annotated method publishes a figure that the record computes.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.RECORD_COMPONENT, ElementType.METHOD})
public @interface Figure {

  /** Returns what the figure means, in one sentence without a full stop at the end. */
  String value();

  /** Returns the unit of a number. */
  Unit unit() default Unit.NONE;

  /** Returns whether JSON shows an unknown figure as {@code null}. Otherwise JSON omits it. */
  boolean always() default false;

  /** Returns whether JSON shows the components of this record instead of the record. */
  boolean inline() default false;

  /** Returns whether the number only grows while the process lives. */
  boolean grows() default false;

  /**
   * Returns the name of the meter, without labels, that shows the figure; empty if there is none.
   */
  String meter() default "";

  /**
   * Returns the attribute of an MBean that shows the figure as one value; empty if there is none.
   */
  String attribute() default "";

  /** The unit of a number. */
  enum Unit {
    /** Not a number, or a number without one of the units below, such as a process id. */
    NONE(false),
    /** Bytes, without a fraction. */
    BYTES(true),
    /** Things that are counted, without a fraction. */
    COUNT(true),
    /** Seconds, with a fraction. */
    SECONDS(false),
    /** A share of a whole, 0 to 1. */
    RATIO(false),
    /** Bytes per second. */
    BYTES_PER_SECOND(false),
    /** Bytes per hour. */
    BYTES_PER_HOUR(false);

    private final boolean whole;

    Unit(boolean whole) {
      this.whole = whole;
    }

    /** Returns whether numbers of this unit are rounded to whole numbers. */
    public boolean whole() {
      return whole;
    }
  }
}
