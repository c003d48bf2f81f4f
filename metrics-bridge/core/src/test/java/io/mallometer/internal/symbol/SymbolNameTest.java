package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.mallometer.CpuTime;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class SymbolNameTest {

  private static final List<String> REAL =
      List.of(
          "_ZN7rocksdb6DBImpl3GetERKNS_11ReadOptionsEPNS_18ColumnFamilyHandleERKNS_5SliceEPSs",
          "_ZSt13__adjust_heapIN9__gnu_cxx17__normal_iteratorIPSsSt6vectorISsSaISsEEEElSsNS0_5__ops"
              + "15_Iter_comp_iterIPFbRKSsS9_EEEEvT_T0_SD_T1_T2_",
          "_ZZNK3FooIJicEE3barEvENKUlvE_clEv",
          "_ZNSt8functionIFvPK7JNIEnv_PFiiES3_EED2Ev",
          "_ZN1fIXsr3std7is_sameIT_iEE5valueEEEDTcl3fooclL_Z3barvEEEEv",
          "_RNvXs0_C7mycrateINtB5_3FooRShENtNtC4core3ops4Drop4drop",
          "_RINvNtC3std3mem8align_ofTB3_B2_DNtC1a1bEL_FKC3intEzKj10_E",
          "_ZThn24_N7rocksdb17LoggerJniCallback4LogvEPKcP13__va_list_tag");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "_ZN7rocksdb6DBImpl3GetERKNS_11ReadOptionsE | rocksdb::DBImpl::Get",
        "_Z3fooiPKc | foo",
        "_ZNK3Foo3barEv | Foo::bar",
        "_ZSt9terminatev | std::terminate",
        // Template arguments are dropped wherever they are.
        "_ZNSt6vectorIiSaIiEE9push_backERKi | std::vector::push_back",
        "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_ | std::move",
        "_Z1fIXadL_Z1gvEEEvv | f",
        "_Z1fIJiPcEEvDpT_ | f",
        "_ZNSt8functionIFvPKcPFiiEEEC1ERKS5_ | std::function::function",
        // Constructors and destructors, also inherited ones.
        "_ZN3FooC1Ev | Foo::Foo",
        "_ZN3FooC2ERKS_ | Foo::Foo",
        "_ZN3FooD0Ev | Foo::~Foo",
        "_ZN3BarCI13FooEi | Bar::Bar",
        "_ZN3FooIiED2Ev | Foo::~Foo",
        "_ZNSsC1EPKc | std::basic_string::basic_string",
        "_ZNSsD1Ev | std::basic_string::~basic_string",
        "_Znwm | operator new",
        "_ZdaPvSt11align_val_t | operator delete[]",
        "_ZN3FooclEi | Foo::operator()",
        "_ZN3FooixEm | Foo::operator[]",
        "_ZlsRSoRK3Foo | operator<<",
        "_ZN3FooptEv | Foo::operator->",
        "_ZN3FoossERKS_ | Foo::operator<=>",
        "_ZNK3FoocvbEv | Foo::operator bool",
        "_ZNK3FoocvPKcEv | Foo::operator char const*",
        "_ZNK3FoocvT_IiEEv | Foo::operator int",
        "_Zli2_mm | operator\"\" _m",
        // A namespace without a name is shown as anonymous; internal linkage and ABI tags are not
        // shown.
        "_ZN12_GLOBAL__N_13fooEv | (anonymous namespace)::foo",
        "_ZL3foov | foo",
        "_ZN3Foo3barB5cxx11Ev | Foo::bar",
        "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv"
            + " | std::__cxx11::basic_string::size",
        "_ZZ3foovENKUlvE_clEv | foo::{lambda#1}::operator()",
        "_ZZ3fooiENKUliE0_clEi | foo::{lambda#2}::operator()",
        "_ZZN3Foo3barEvEN5Local3runEv | Foo::bar::Local::run",
        "_ZZ3foovE3barv | foo::bar",
        "_ZZN1A3fooEidENKUlvE_clEv | A::foo::{lambda#1}::operator()",
        "_ZN1XUt_3runEv | X::{unnamed type#1}::run",
        // A thunk has the name of the function that it calls.
        "_ZThn16_N3Foo3barEv | Foo::bar",
        "_ZTv0_n24_N3FooD0Ev | Foo::~Foo",
        "_ZTch0_h16_N3Foo5cloneEv | Foo::clone",
        "_ZGTtNSt11logic_errorC1EPKc | std::logic_error::logic_error",
        // The suffixes of the compiler's clones and of symbol versions are removed.
        "_ZN3Foo3barEv.constprop.0 | Foo::bar",
        "_ZN3Foo3barEv.isra.0.cold | Foo::bar",
        "_Znwm@@GLIBCXX_3.4 | operator new",
        "deflate.constprop.0 | deflate",
        "inflate_table.isra.0.cold | inflate_table",
        "memcpy@@GLIBC_2.14 | memcpy",
        "deflateInit2_ | deflateInit2_",
        "Java_org_rocksdb_RocksDB_get | Java_org_rocksdb_RocksDB_get",
        "a.b | a.b",
        "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE | core::fmt::Formatter::pad",
        "_ZN60_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$4drop17h0123456789abcdefE"
            + " | <alloc::vec::Vec<T> as core::ops::Drop>::drop",
        "_RNvC6_123foo3bar | 123foo::bar",
        "_RNvNtCs1234_7mycrate3foo3bar | mycrate::foo::bar",
        "_RINvNtC3std3mem8align_ofdE | std::mem::align_of",
        "_RNCNvC7mycrate4mains_0 | mycrate::main::{closure#1}",
        "_RNvMs_C7mycrateNtB4_3Foo3bar | <mycrate::Foo>::bar",
        "_RNvXs0_C7mycrateINtB5_3FooRShENtNtC4core3ops4Drop4drop"
            + " | <mycrate::Foo as core::ops::Drop>::drop",
        "_RNvYDNtC1a1bEL_NtC1c1d1e | <dyn a::b as c::d>::e",
        "_Rust_function | _Rust_function",
      })
  void isTheQualifiedNameOfTheFunction(String symbol, String name) {
    assertThat(SymbolName.of(symbol)).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "_",
        "_Z",
        "_ZN",
        "_ZN3Foo",
        "_Z9foo",
        "_ZS_",
        "_ZNS0_E",
        "_Z-1x",
        "_ZN3FooC9"
      })
  void whatCannotBeReadStaysAsItIs(String symbol) {
    assertThat(SymbolName.of(symbol)).isEqualTo(symbol);
  }

  @Test
  void substitutionsThatDoubleDoNotTakeTimeOrMemory() {
    StringBuilder doubling = new StringBuilder("_ZN1aC1");
    for (int i = 0; i < 2_000; i++) {
      doubling.append("FS").append(i == 0 ? "" : base36(i - 1)).append("_S_E");
    }
    StringBuilder conversion = new StringBuilder("_ZN1acv");
    conversion.append("P".repeat(10_000)).append("iEv");

    assertTimeoutPreemptively(
        Duration.ofMinutes(1),
        () ->
            assertThat(
                    CpuTime.of(
                        () -> {
                          assertThat(SymbolName.of(doubling.toString())).hasSizeLessThan(20_000);
                          assertThat(SymbolName.of(conversion.toString()))
                              .isEqualTo(conversion.toString());
                          for (String piece :
                              List.of(
                                  "N", "I", "1aM", "F", "Ty", "Tp", "K", "flpl", "PS_", "X", "Z",
                                  "P", "F", "S_", "T_", "1aI", "cl", "J")) {
                            String nested = "_Z1f" + piece.repeat(4_000);
                            assertThat(SymbolName.of(nested)).isNotNull();
                            assertThat(SymbolName.of("_ZZ1f" + piece.repeat(4_000) + "E1x"))
                                .isNotNull();
                            assertThat(SymbolName.of("_Z1fI" + piece.repeat(4_000) + "Evv"))
                                .isNotNull();
                          }
                        }))
                .isLessThan(Duration.ofSeconds(5)));
  }

  private static String base36(int number) {
    return Integer.toString(number, 36).toUpperCase(Locale.ROOT);
  }

  @Test
  void garbledSymbolsAreReadOrStay() {
    Random random = new Random(20_261_121);
    String alphabet = "_ZNISTLXEJKPRFDUCMOGQBVtlsvcmabnfypdr0123456789.$@";
    assertTimeoutPreemptively(
        Duration.ofMinutes(1),
        () ->
            assertThat(
                    CpuTime.of(
                        () -> {
                          for (int i = 0; i < 100_000; i++) {
                            StringBuilder symbol =
                                new StringBuilder(REAL.get(random.nextInt(REAL.size())));
                            for (int change = random.nextInt(5); change >= 0; change--) {
                              int at = 2 + random.nextInt(symbol.length() - 2);
                              char c = alphabet.charAt(random.nextInt(alphabet.length()));
                              switch (random.nextInt(4)) {
                                case 0 -> symbol.setCharAt(at, c);
                                case 1 -> symbol.insert(at, c);
                                case 2 -> symbol.insert(at, symbol.substring(at));
                                default -> symbol.setLength(Math.max(3, at));
                              }
                            }
                            assertThat(SymbolName.of(symbol.toString()))
                                .isNotEmpty()
                                .hasSizeLessThan(6_000);
                          }
                        }))
                .isLessThan(Duration.ofSeconds(20)));
  }
}
