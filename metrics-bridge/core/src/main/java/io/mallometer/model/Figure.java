package io.mallometer.model;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A published component of a record. JSON, the MBeans and the reference take the name of the
 * component from the record, and its meaning and unit from this annotation. A component without the
 * annotation is not published. On a method, the annotation publishes a figure that the record
 * computes.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.RECORD_COMPONENT, ElementType.METHOD})
public @interface Figure {

  /** Returns the meaning, in one sentence without its final full stop. */
  String value();

  /** Returns the unit of a number. */
  Unit unit() default Unit.NONE;

  /**
   * Returns whether JSON contains the figure as {@code null} while it is unknown, instead of
   * leaving it out.
   */
  boolean always() default false;

  /** Returns whether JSON contains the components of this record in place of the record. */
  boolean inline() default false;

  /** Returns whether the number only grows while the process lives. */
  boolean grows() default false;

  /** Returns the name of the meter that shows the figure without labels; empty if there is none. */
  String meter() default "";

  /**
   * Returns the attribute of an MBean that shows the figure without a key; empty if there is none.
   */
  String attribute() default "";

  /** The unit of a number. */
  enum Unit {
    /** No number, or a number whose meaning states the unit. */
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

    /** Returns whether numbers of this unit are published without their fraction. */
    public boolean whole() {
      return whole;
    }
  }
}
