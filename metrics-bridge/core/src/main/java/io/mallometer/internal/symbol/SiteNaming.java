package io.mallometer.internal.symbol;

import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names call sites, in few enough characters for a tag. The name is the first of these for which
 * the stack has a frame. Of several such frames, the innermost one is used:
 *
 * <ol>
 *   <li>the {@code Class.method} of a Java frame of the application. Without configured packages, a
 *       class belongs to the application if it is in no {@linkplain LibraryClasses library}. A
 *       class that the JDK made for a lambda is used only if the stack has no other class of the
 *       application,
 *   <li>the {@code Class.method} of a Java frame outside of the JDK that is no generated proxy or
 *       accessor,
 *   <li>the {@code library!symbol} of a native frame outside of the C and C++ runtime and of
 *       allocators. Functions that only pass a request on, such as {@code operator new}, are
 *       skipped,
 *   <li>the function of the innermost frame.
 * </ol>
 *
 * <p>Memory with which the JVM compiles a method has the name {@code compilation of
 * com.acme.Shop.order}. Memory that a framework or the JVM allocates below the program's main
 * method has the name {@code start-up (ShopApplication.main)}, if no other method of the
 * application is in between.
 *
 * <p>A name contains no addresses, lines or control characters, and nothing that changes from run
 * to run. Immutable.
 */
public final class SiteNaming {

  /**
   * The longest name, in characters. Longer class names are cut at the beginning, longer symbols at
   * the end.
   */
  public static final int MOST_CHARACTERS = 200;

  private static final String MAIN = "main";
  private static final String START_UP = "start-up (%s)";

  /** The package of Spring Boot's launchers. They call main by reflection. */
  private static final String LAUNCHERS = "org.springframework.boot.loader.";

  private static final String CUT = "...";
  private static final String UNKNOWN = "[unknown]";

  /** Stands in for a library's name if none is found and the innermost frame is Java. */
  static final String JAVA = "[java]";

  private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.", "com.sun.");

  private static final String LAMBDA = "$$Lambda";

  private static final Pattern GENERATED =
      Pattern.compile(
          "(?:^|\\.)\\$Proxy\\d*$|\\$\\$\\w*CGLIB(?:$|\\$)|Generated\\w*Accessor\\d*$"
              + "|\\$(?:ByteBuddy|HibernateProxy|MockitoMock)(?:$|\\$)|LambdaForm\\$\\w+$");

  private static final Set<String> RUNTIME_LIBRARIES =
      Set.of(
          "libc",
          "libpthread",
          "libdl",
          "libgcc_s",
          "libstdc++",
          "libc++",
          "libc++abi",
          "libmallometer",
          "libjemalloc",
          "libmimalloc",
          "linux-vdso",
          "ld64");

  private static final List<String> RUNTIME_FAMILIES = List.of("libtcmalloc", "libc.musl", "ld-");

  private static final List<String> STANDARD_LIBRARY =
      List.of("operator new", "operator delete", "std::", "__gnu_cxx::", "__cxxabiv1::");

  private static final String ZLIB_WRAPPER = "zcalloc";

  private static final String JVM = "libjvm.so";

  private static final Set<String> JVM_WRAPPERS =
      Set.of(
          "os::malloc",
          "os::realloc",
          "os::strdup",
          "os::strdup_check_oom",
          "AllocateHeap",
          "ReallocateHeap",
          "resource_allocate_bytes",
          "resource_reallocate_bytes",
          "ResourceArea::allocate_bytes",
          "Arena::Amalloc",
          "Arena::AmallocWords",
          "Arena::Arealloc",
          "Arena::internal_amalloc",
          "Arena::grow",
          "Chunk::allocate_chunk",
          "ChunkPool::allocate",
          "ChunkPool::allocate_chunk",
          "ArenaMemoryManager::allocate_chunk",
          "ArrayAllocator::allocate",
          "MallocArrayAllocator::allocate",
          "CHeapAllocator::alloc",
          "GrowableArrayCHeapAllocator::allocate",
          "GrowableArrayResourceAllocator::allocate");

  /**
   * The beginning of the names of HotSpot's functions that Java code calls through {@code Unsafe},
   * for example to allocate direct buffers.
   */
  private static final String UNSAFE = "Unsafe_";

  private static final String JVM_OPERATOR_NEW = "::operator new";

  private final List<String> applicationPackages;
  private final Predicate<String> isLibrary;

  /**
   * Creates a rule.
   *
   * @param applicationPackages packages with all below them, such as {@code com.acme}; may be empty
   */
  public SiteNaming(List<String> applicationPackages) {
    this(applicationPackages, LibraryClasses.OF_THIS_PROCESS);
  }

  SiteNaming(List<String> applicationPackages, Predicate<String> isLibrary) {
    this.isLibrary = isLibrary;
    List<String> beginnings = new ArrayList<>();
    for (String name : applicationPackages) {
      String known = name.strip().replaceFirst("\\.?\\*?$", "");
      if (!known.isEmpty()) {
        beginnings.add(known + ".");
      }
    }
    this.applicationPackages = List.copyOf(beginnings);
  }

  /**
   * Returns the name of a site.
   *
   * @param frames its stack, innermost first
   */
  public String name(List<StackFrame> frames) {
    if (!frames.isEmpty() && frames.get(0).kind() == StackFrame.Kind.COMPILED) {
      return StackFrame.COMPILATION + javaName(frames.get(0));
    }
    StackFrame naming = firstNaming(frames);
    naming = naming == null ? firstNative(frames) : naming;
    naming = naming == null && !frames.isEmpty() ? frames.get(0) : naming;
    if (naming == null) {
      return UNKNOWN;
    }
    return isStartUp(naming, frames) ? startUp(naming) : shortName(naming);
  }

  /**
   * Returns the Java frame that names a stack; empty if all its Java frames are of the JDK or
   * generated.
   */
  public Optional<StackFrame> frame(List<StackFrame> frames) {
    return Optional.ofNullable(firstNaming(frames));
  }

  private @Nullable StackFrame firstNaming(List<StackFrame> frames) {
    StackFrame naming = firstOfJava(frames, frame -> isApplication(frame) && !isLambda(frame));
    naming = naming == null ? firstOfJava(frames, this::isApplication) : naming;
    return naming == null ? firstOfJava(frames, frame -> !isPlumbing(frame)) : naming;
  }

  private boolean isStartUp(StackFrame naming, List<StackFrame> frames) {
    if (naming.kind() != StackFrame.Kind.JAVA || !naming.name().equals(MAIN)) {
      return false;
    }
    int at = frames.indexOf(naming);
    for (StackFrame caller : frames.subList(at + 1, frames.size())) {
      if (!isPlumbing(caller) && !caller.owner().startsWith(LAUNCHERS)) {
        return false;
      }
    }
    StackFrame allocating = firstNative(frames);
    return firstOfJava(frames.subList(0, at), frame -> !isPlumbing(frame)) != null
        || allocating != null
            && allocating.owner().equals(JVM)
            && !allocating.name().startsWith(UNSAFE);
  }

  private static String startUp(StackFrame main) {
    String method = javaName(main);
    int simple = method.lastIndexOf('.', method.length() - MAIN.length() - 2) + 1;
    return START_UP.formatted(method.substring(simple));
  }

  /**
   * Returns the library that requested the memory: the innermost one outside of the C and C++
   * runtime and allocators. If there is none, returns the library of the innermost frame, or {@code
   * [java]} for a Java frame. Empty if unknown.
   *
   * @param frames the stack, innermost first
   */
  public String library(List<StackFrame> frames) {
    for (StackFrame frame : frames) {
      if (isInLibrary(frame) && !isRuntime(frame)) {
        return printable(frame.owner());
      }
    }
    if (frames.isEmpty()) {
      return "";
    }
    StackFrame innermost = frames.get(0);
    return innermost.kind() == StackFrame.Kind.JAVA ? JAVA : printable(innermost.owner());
  }

  private static @Nullable StackFrame firstOfJava(
      List<StackFrame> frames, Predicate<StackFrame> isWanted) {
    for (StackFrame frame : frames) {
      if (frame.kind() == StackFrame.Kind.JAVA && isWanted.test(frame)) {
        return frame;
      }
    }
    return null;
  }

  private static String shortName(StackFrame frame) {
    return frame.kind() == StackFrame.Kind.JAVA ? javaName(frame) : nativeName(frame);
  }

  private static String javaName(StackFrame frame) {
    String name =
        printable(JavaNames.ofClass(frame.owner()) + "." + JavaNames.ofMethod(frame.name()));
    int excess = name.length() - MOST_CHARACTERS;
    return excess > 0 ? CUT + name.substring(excess + CUT.length()) : name;
  }

  private boolean isApplication(StackFrame frame) {
    return applicationPackages.isEmpty()
        ? !isPlumbing(frame) && !isLibrary.test(frame.owner())
        : startsWithAny(frame.owner(), applicationPackages) && !isGenerated(frame);
  }

  private static boolean isLambda(StackFrame frame) {
    return frame.owner().contains(LAMBDA);
  }

  private static boolean isPlumbing(StackFrame frame) {
    return frame.owner().startsWith("[") || startsWithAny(frame.owner(), JDK) || isGenerated(frame);
  }

  private static boolean startsWithAny(String name, List<String> beginnings) {
    for (String beginning : beginnings) {
      if (name.startsWith(beginning)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isGenerated(StackFrame frame) {
    String name = frame.owner();
    return (JavaNames.hasMark(name) || name.contains("LambdaForm"))
        && GENERATED.matcher(JavaNames.ofClass(name)).find();
  }

  private static boolean isRuntime(StackFrame frame) {
    String owner = frame.owner();
    int end = owner.indexOf(".so");
    boolean library = end > 0 && (end + 3 == owner.length() || owner.charAt(end + 3) == '.');
    return library
        && (RUNTIME_LIBRARIES.contains(owner.substring(0, end))
            || startsWithAny(owner, RUNTIME_FAMILIES));
  }

  private static boolean isInLibrary(StackFrame frame) {
    return frame.kind() == StackFrame.Kind.NATIVE && !frame.owner().isEmpty();
  }

  /**
   * Returns the native frame that requested the memory. Skips the C and C++ runtime, and functions
   * that only pass on a request from their own library.
   */
  private static @Nullable StackFrame firstNative(List<StackFrame> frames) {
    StackFrame asking = null;
    for (StackFrame frame : frames) {
      if (!isInLibrary(frame) || isRuntime(frame)) {
        continue;
      }
      if (asking != null && !frame.owner().equals(asking.owner())) {
        return asking;
      }
      asking = frame;
      if (!passesOn(frame)) {
        return asking;
      }
    }
    return asking;
  }

  private static boolean passesOn(StackFrame frame) {
    return frame.owner().equals(JVM)
            && (JVM_WRAPPERS.contains(frame.name())
                || frame.name().endsWith(JVM_OPERATOR_NEW)
                || frame.name().endsWith(JVM_OPERATOR_NEW + "[]"))
        || startsWithAny(frame.name(), STANDARD_LIBRARY)
        || frame.name().equals(ZLIB_WRAPPER);
  }

  private static String nativeName(StackFrame frame) {
    String name = printable(frame.function());
    return name.length() > MOST_CHARACTERS
        ? name.substring(0, MOST_CHARACTERS - CUT.length()) + CUT
        : name;
  }

  /** Returns a name on one line, with a question mark for each character that cannot be shown. */
  public static String printable(String name) {
    return isPlain(name) ? name : withoutHidden(name);
  }

  private static boolean isPlain(String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c < ' ' || c > '~') {
        return false;
      }
    }
    return true;
  }

  private static String withoutHidden(String name) {
    StringBuilder shown = new StringBuilder(name.length());
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      int type = Character.getType(c);
      boolean hidden =
          Character.isISOControl(c)
              || type == Character.LINE_SEPARATOR
              || type == Character.PARAGRAPH_SEPARATOR
              || type == Character.FORMAT
              || type == Character.SURROGATE;
      shown.append(hidden ? '?' : c);
    }
    return shown.toString();
  }
}
