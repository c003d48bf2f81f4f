package io.mallometer.agent;

import java.lang.instrument.Instrumentation;
import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Makes the payload a named module where the JDK warns of native access, which is JDK 24 and newer.
 *
 * <p>There the first class outside a named module that loads native code makes the JDK print four
 * lines, and none follow: the application's output would be another, and its own warning be gone.
 * An option or the manifest of the application's jar can allow native access, an agent's manifest
 * cannot. But a named module has a right of its own, which the payload gives to itself; see {@code
 * NativeAccess} there. To that end two packages of the JDK are opened to it and to nothing else.
 *
 * <p>Where native access is allowed already, or the JDK is older, nothing is done.
 */
final class PayloadModule {

  private static final String NAME = "io.mallometer.agent.payload";

  private PayloadModule() {}

  /** Before the loader has loaded a class. Where it fails, the JDK warns. */
  static void define(PayloadLoader loader, Instrumentation instrumentation) {
    try {
      if (!needed(loader.getUnnamedModule())) {
        return;
      }
      ModuleDescriptor descriptor =
          ModuleDescriptor.newAutomaticModule(NAME).packages(loader.packages()).build();
      ModuleLayer boot = ModuleLayer.boot();
      Configuration configuration =
          boot.configuration().resolve(only(descriptor), ModuleFinder.of(), Set.of(NAME));
      Module module =
          ModuleLayer.defineModules(configuration, List.of(boot), name -> loader)
              .layer()
              .findModule(NAME)
              .orElseThrow();
      instrumentation.redefineModule(
          Object.class.getModule(),
          Set.of(),
          Map.of(),
          Map.of("java.lang", Set.of(module), "jdk.internal.module", Set.of(module)),
          Set.of(),
          Map.of());
    } catch (ReflectiveOperationException | RuntimeException e) {
      // A JDK of another kind; then it warns.
      return;
    }
  }

  /** The method is as old as the warning: not in Java 17, for which this is compiled. */
  private static boolean needed(Module unnamed) throws ReflectiveOperationException {
    if (Runtime.version().feature() < 24) {
      return false;
    }
    Method allowed = Module.class.getMethod("isNativeAccessEnabled");
    return !(Boolean) allowed.invoke(unnamed);
  }

  private static ModuleFinder only(ModuleDescriptor descriptor) {
    ModuleReference reference =
        new ModuleReference(descriptor, null) {
          @Override
          public ModuleReader open() {
            throw new UnsupportedOperationException("the class loader has what is in it");
          }
        };
    return new ModuleFinder() {
      @Override
      public Optional<ModuleReference> find(String name) {
        return name.equals(NAME) ? Optional.of(reference) : Optional.empty();
      }

      @Override
      public Set<ModuleReference> findAll() {
        return Set.of(reference);
      }
    };
  }
}
