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
 * Makes the payload a named module on JDK 24 and newer, unless native access is allowed already.
 *
 * <p>Such a JDK prints a warning, once in a process, when a class in an unnamed module first loads
 * native code. The agent must not cause this warning. It must not suppress the warning about the
 * application's own code either.
 *
 * <p>An agent's manifest cannot allow native access, but a named module can get the right. {@code
 * NativeAccess} in the payload gives it to the payload's module. {@code NativeAccess} needs two
 * packages of the JDK, which this class opens to that module only.
 */
final class PayloadModule {

  private static final String NAME = "io.mallometer.agent.payload";

  private PayloadModule() {}

  /**
   * Defines the module. Must run before the loader loads a class. If this fails, the JDK prints its
   * warning that a class in an unnamed module loads native code.
   */
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
      // The module cannot be defined in this JDK. The JDK then prints its warning about native
      // access.
      return;
    }
  }

  /**
   * Returns whether the JDK would warn. Calls {@code Module.isNativeAccessEnabled()} by reflection,
   * because Java 17 lacks this method.
   */
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
