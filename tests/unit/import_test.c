/* import: which entries may be carried over, by name and rule, and what is never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/import.h"
#include "guard/unsafe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(list)   (sizeof list / sizeof list[0])
#define TEXT(literal) literal, sizeof literal - 1

static void
entries_that_make_no_sense_are_refused(void **state)
{
	static const struct {
		const char *word, *message;
	} samples[] = {
	    {"", "is not understood"},
	    {"output", "is not understood"},
	    {"output=x", "is not understood"},
	    {"outputs:a", "is not understood"},
	    {"Output:a", "is not understood"},
	    {"output:", "the name is empty"},
	    {"output:a<<b", "can't read the name"},
	    {"output:=enum:a", "the name is empty"},
	    {"output:lane-class", "reserved"},
	    {"output:Exit-Code", "reserved"},
	    {"output:a=", "unknown rule"},
	    {"output:a=enum", "unknown rule"},
	    {"output:a=enum:", "unknown rule"},
	    {"output:a=under:/x", "unknown rule"},
	    {"output:a=max:", "no such size"},
	    {"output:a=max:0", "no such size"},
	    {"output:a=max:2M", "no such size"},
	    {"output:a=regex:", "unknown rule"},
	    {"output:a=regex:(", "regex:("},
	    {"output:a=regex:(a)\\1", "back-references"},
	    {"env:NODE_OPTIONS", "NODE_OPTIONS"},
	    {"env:node_options", "NODE_OPTIONS"},
	    {"path", "under:DIR"},
	    {"path:x", "is not understood"},
	    {"path=under:x", "under:DIR"},
	    {"path=max:3", "under:DIR"},
	    {"summary:x", "is not understood"},
	    {"summary=enum:a", "unknown rule"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		struct import import;
		struct error e = {0};

		if (import_parse(&import, samples[i].word, &e) == 0)
			fail_msg("%s was accepted", samples[i].word);
		if (strstr(e.what, samples[i].message) == NULL)
			fail_msg("%s: %s", samples[i].word, e.what);
		assert_string_not_equal(e.cure, "");
	}
}

static bool
is_unsafe(const char *word)
{
	struct import import;
	struct error e = {0};
	bool unsafe;

	assert_int_equal(import_parse(&import, word, &e), 0);
	unsafe = import_is_unsafe(&import);
	import_free(&import);
	return unsafe;
}

static void
what_runs_code_or_redirects_trust_is_unsafe(void **state)
{
	static const char *const bad[] = {"path=under:/x", "env:PATH", "env:path", "env:LD_PRELOAD",
	    "env:BASH_ENV", "env:ENV", "env:PS4", "env:HOME", "env:XDG_CONFIG_HOME",
	    "env:GIT_SSH_COMMAND", "env:NODE_PATH", "env:npm_config_registry", "env:PYTHONPATH",
	    "env:http_proxy", "env:HTTPS_PROXY", "env:no_proxy", "env:SSL_CERT_FILE",
	    "env:AWS_PROFILE", "env:GH_TOKEN", "env:GITHUB_TOKEN", "env:RUNNER_X",
	    "env:BASH_FUNC_x%%", "env:GOFLAGS", "env:RUSTC_WRAPPER", "env:CC", "env:MAKEFLAGS",
	    "env:TMPDIR", "env:ANTHROPIC_BASE_URL", "env:LEGGUARD_X", "env:DOCKER_HOST",
	    "env:MY_PATH", "env:CLASSPATH", "env:CXXFLAGS", "env:TAR_OPTIONS", "env:NPM_TOKEN"};
	static const char *const good[] = {"env:VERDICT", "env:REVIEW_COUNT", "env:CCC",
	    "env:HOMEPAGE", "output:PATH", "state:LD_PRELOAD", "summary", "env:PROXY_COUNT",
	    "env:RESULT", "env:STATUS", "env:SCORE", "env:MODEL", "env:VERSION", "env:TITLE",
	    "env:TEXT", "env:REASON", "env:LABELS", "env:COMMENT_ID", "env:PR", "env:RC",
	    "env:EXIT_RC", "env:SRC", "env:ARCH", "env:LANG", "env:TZ", "env:TERM", "env:DEBUG",
	    "env:CVSS_SCORE", "env:PARALLELISM", "env:ZIPCODE", "env:INPUTS_SEEN", "env:STATES",
	    "env:TESTS_PASS", "env:PREVIEW_URL", "env:BUILD_PROFILE", "env:BUILD_TYPE",
	    "env:TARGET_BRANCH", "env:RELEASE", "env:ARTIFACT_NAME", "env:COVERAGE", "env:SUMMARY",
	    "env:ARMED", "env:AREA", "env:ASSIGNEE", "env:SCALABLE", "env:MAILED",
	    "env:TEMPERATURE", "env:USERS", "env:PROMPT_SIZE", "env:COMPOSED", "env:STACKED",
	    "env:RAN", "env:R2", "env:PGO", "env:NODES", "env:HASH", "env:COUNT", "env:EMAIL_CC",
	    "env:TITLE_AR", "env:AGE_DAYS", "env:REACT_APP_NAME", "env:VITE_TITLE",
	    "env:NEXT_STEP"};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (!is_unsafe(bad[i]))
			fail_msg("%s counts as safe", bad[i]);
	for (size_t i = 0; i < COUNT(good); i++)
		if (is_unsafe(good[i]))
			fail_msg("%s counts as unsafe", good[i]);
}

/* One of each tool that is known to start a program, load code, read a configuration or ask a host by such a variable. */
static void
so_is_what_common_tools_act_by(void **state)
{
	static const char *const names[] = {/* by what the name says */
	    "TEMP", "TMP", "PWD", "OLDPWD", "USER", "LOGNAME", "FZF_DEFAULT_COMMAND", "TEST_CMD",
	    "BORG_PASSCOMMAND", "X_PASSCOMMAND", "WHICH_EXE", "X_EXECUTABLE", "CHROME_BIN", "X_BIN",
	    "X_BINARY", "X_PROGRAM", "X_SHELL", "X_WRAPPER", "X_LAUNCHER", "X_LINKER", "X_PRELOAD",
	    "X_PLUGIN", "X_PLUGINS", "X_HOOK", "X_HOOKS", "X_CONFIG", "X_CONFIG_FILE",
	    "X_CONFIG_DIR", "X_CONF",
	    /* the loader and libc */
	    "DYLD_INSERT_LIBRARIES", "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "HOSTALIASES",
	    "LOCALDOMAIN", "LOCPATH", "MALLOC_TRACE", "MEMUSAGE_OUTPUT", "NLSPATH",
	    "PCPROFILE_OUTPUT", "POSIXLY_CORRECT", "RES_OPTIONS", "RESOLV_HOST_CONF",
	    "SEGFAULT_OUTPUT_NAME", "TERMCAP", "TERMINFO", "TERMINFO_DIRS", "TEXTDOMAINDIR",
	    "TZDIR",
	    /* shells and terminals */
	    "PS0", "PS1", "PS2", "PS3", "FIGNORE", "EXECIGNORE", "PROMPT", "PROMPT_COMMAND",
	    "RPROMPT", "NULLCMD", "READNULLCMD", "ARGV0", "FCEDIT", "HISTFILE", "INPUTRC", "EDITRC",
	    "ZDOTDIR", "FPATH", "CDPATH", "KSH_VERSION", "fish_function_path", "DIRENV_CONFIG",
	    "TMUX", "TMUX_TMPDIR", "SCREENRC", "SCREENDIR", "STY", "ComSpec", "PATHEXT",
	    "SystemRoot", "windir", "APPDATA", "LOCALAPPDATA", "ProgramData", "USERPROFILE",
	    "PSModulePath", "POWERSHELL_UPDATECHECK",
	    /* programs for people */
	    "PAGER", "GH_PAGER", "MANPAGER", "LESSOPEN", "LYNX_CFG", "EDITOR", "VISUAL",
	    "ALTERNATE_EDITOR", "VIMINIT", "NVIM_APPNAME", "MYVIMRC", "EXINIT", "EMACSLOADPATH",
	    "BROWSER", "SSH_ASKPASS", "X_ASKPASS", "PINENTRY_USER_DATA", "MAIL", "MAILRC",
	    "MAILCAP", "MAILCAPS", "DIALOGRC", "TEXMFCNF", "TEXINPUTS", "BIBINPUTS", "shell_escape",
	    "GS_LIB", "MAGICK_CONFIGURE_PATH", "GNUPLOT_LIB",
	    /* programs that start others */
	    "RSYNC_RSH", "RSYNC_CONNECT_PROG", "CVS_RSH", "RSH", "RCLONE_CONFIG",
	    "RESTIC_REPOSITORY", "BORG_RSH", "TAPE", "ZIP", "ZIPOPT", "UNZIP", "UNZIPOPT", "GZIP",
	    "BZIP", "BZIP2", "XZ_DEFAULTS", "ZSTD_CLEVEL", "PARALLEL", "PARALLEL_HOME", "PATCH_GET",
	    "QUILT_PATCHES", "SUDO_ASKPASS", "SYSTEMD_EDITOR", "LISTEN_FDS", "NOTIFY_SOCKET",
	    "AUTOSSH_PATH", "SSHPASS", "GDBHISTFILE", "LLDB_DEBUGSERVER_PATH", "VALGRIND_LIB",
	    "STRACE_OPTS", "GCOV_PREFIX", "LLVM_PROFILE_FILE", "DEBUGINFOD_URLS",
	    /* version control */
	    "GLAB_HOST", "HUB_PROTOCOL", "HGRCPATH", "HGMERGE", "SVN_SSH", "CVS", "CVSROOT",
	    "CVSEDITOR", "CVSREAD", "CVSIGNORE", "CVSWRAPPERS", "BZR_SSH", "BRZ_SSH", "P4CONFIG",
	    "PRE_COMMIT_HOME", "HUSKY", "LEFTHOOK",
	    /* compiling */
	    "CPP", "CXXCPP", "CC_x86_64_unknown_linux_gnu", "CXX_aarch64", "AR_aarch64", "HOSTCC",
	    "HOSTCXX", "HOSTAR", "HOST_CC", "HOST_CXX", "HOST_AR", "TARGET_CC", "TARGET_CXX",
	    "TARGET_AR", "BUILD_CC", "BUILD_CXX", "BUILD_AR", "AS", "NM", "STRIP", "RANLIB",
	    "OBJCOPY", "OBJDUMP", "READELF", "FC", "F77", "F90", "F95", "OBJC", "OBJCXX", "NASM",
	    "YASM", "WINDRES", "LEX", "FLEX", "YACC", "BISON_PKGDATADIR", "M4", "SED", "AWK",
	    "GREP", "EGREP", "FGREP", "INSTALL", "LN_S", "CONFIG_SITE", "CONFIG_SHELL", "AUTOCONF",
	    "AUTOHEADER", "AUTOMAKE", "AUTORECONF", "AUTOPOINT", "AUTOM4TE", "ACLOCAL",
	    "LIBTOOLIZE", "LT_SYS_LIBRARY_PATH", "CTEST_OUTPUT_ON_FAILURE", "MESON_TESTTHREADS",
	    "MESON", "NINJA", "NINJA_STATUS", "QMAKESPEC", "SWIG_LIB", "CROSS_COMPILE",
	    "KBUILD_OUTPUT", "GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH", "CPATH",
	    "C_INCLUDE_PATH", "CFLAGS", "LDFLAGS", "CPPFLAGS", "CLANG_MODULE_CACHE_PATH",
	    "COLLECT_GCC", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "CCACHE_PREFIX",
	    "SCCACHE_DIR", "DISTCC_HOSTS", "ICECC_CXX", "PKG_CONFIG", "PKG_CONFIG_PATH",
	    "NVCC_CCBIN", "BAZELISK_BASE_URL", "USE_BAZEL_VERSION", "PANTS_CONFIG_FILES",
	    "SPACK_ROOT", "VCPKG_ROOT", "CONAN_REVISIONS_ENABLED", "DEVELOPER_DIR", "SDKROOT",
	    "TOOLCHAINS", "SWIFT_EXEC", "XCODE_XCCONFIG_FILE", "ANDROID_SDK_ROOT",
	    "ADB_VENDOR_KEYS", "COCOAPODS_DISABLE_STATS", "CP_HOME_DIR", "FASTLANE_USER",
	    /* JavaScript */
	    "NVM_DIR", "FNM_DIR", "VOLTA_HOME", "YARN_RC_FILENAME", "PNPM_HOME", "BUN_INSTALL",
	    "DENO_DIR", "COREPACK_NPM_REGISTRY", "ELECTRON_RUN_AS_NODE", "TS_NODE_PROJECT",
	    "TSX_TSCONFIG_PATH", "JEST_JUNIT_X", "MOCHA_X", "ESLINT_USE_FLAT_CONFIG", "BABEL_ENV",
	    "PLAYWRIGHT_BROWSERS_PATH", "PUPPETEER_EXECUTABLE_PATH", "CYPRESS_INSTALL_BINARY",
	    "CHROMIUM_X", "FIREFOX_BIN", "MOZ_PLUGIN_PATH", "SELENIUM_REMOTE_URL",
	    "SE_DRIVER_MIRROR_URL",
	    /* Python */
	    "PYENV_ROOT", "PYLINTRC", "MYPYPATH", "PIPX_HOME", "PIPENV_PIPFILE", "POETRY_HOME",
	    "PDM_X", "HATCH_X", "TOX_X", "NOXSESSION", "RUFF_X", "VIRTUAL_ENV", "VIRTUALENV_PYTHON",
	    "MAMBA_ROOT_PREFIX", "JUPYTER_CONFIG_DIR", "IPYTHONDIR", "FLASK_APP",
	    "DJANGO_SETTINGS_MODULE", "CELERY_CONFIG_MODULE", "MPLBACKEND", "MPLCONFIGDIR",
	    "NUMBA_CACHE_DIR", "TORCH_X", "CUDA_INJECTION64_PATH", "HF_ENDPOINT",
	    /* virtual machines */
	    "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JVM_X", "MVN_X", "ANT_ARGS", "IVY_X", "SBT_OPTS",
	    "SCALA_HOME", "KOTLIN_HOME", "KOTLINC_X", "GROOVY_CONF", "LEIN_JVM_OPTS", "CLJ_CONFIG",
	    "CATALINA_OPTS", "CATALINA_BASE", "JETTY_BASE", "JBOSS_X", "SDKMAN_DIR",
	    "DOTNET_STARTUP_HOOKS", "COMPlus_X", "CORECLR_PROFILER", "COR_PROFILER",
	    "MSBuildSDKsPath", "NUGET_PACKAGES", "MONO_PATH", "ASPNETCORE_HOSTINGSTARTUPASSEMBLIES",
	    "ERL_AFLAGS", "ELIXIR_ERL_OPTIONS", "MIX_HOME", "HEX_MIRROR", "REBAR_X", "DART_X",
	    "PUB_HOSTED_URL", "FLUTTER_STORAGE_BASE_URL",
	    /* other languages */
	    "JRUBY_OPTS", "BUNDLE_GEMFILE", "BUNDLER_X", "RBENV_ROOT", "rvm_path", "RAILS_ENV",
	    "RACK_ENV", "RAKEOPT", "PERL5OPT", "PHPRC", "PHP_INI_SCAN_DIR", "COMPOSER",
	    "XDEBUG_CONFIG", "LUA_INIT", "LUAJIT_X", "LUAROCKS_CONFIG", "OCAMLRUNPARAM",
	    "CAMLRUNPARAM", "OPAMROOT", "DUNE_X", "GHCRTS", "GHC_PACKAGE_PATH", "STACK_ROOT",
	    "CABAL_DIR", "R_PROFILE", "R_ENVIRON_USER", "RSCRIPT_X", "RSTUDIO_X", "RENV_CONFIG_X",
	    "JULIA_LOAD_PATH", "OCTAVE_INITFILE", "MATLABPATH", "TCLLIBPATH", "GUILE_LOAD_PATH",
	    "SBCL_HOME", "ASDF_DIR", "MISE_X",
	    /* packages and machines */
	    "APT_CONFIG", "DEBCONF_DB_OVERRIDE", "DEBIAN_FRONTEND", "DPKG_ROOT", "RPM_CONFIGDIR",
	    "DNF_X", "HOMEBREW_X", "GUIX_X", "FLATPAK_X", "SNAPCRAFT_X", "BUILDKIT_HOST",
	    "BUILDX_BUILDER", "BUILDAH_ISOLATION", "PODMAN_X", "COMPOSE_FILE", "CONTAINERD_ADDRESS",
	    "REGISTRY_AUTH_FILE", "KUBECONFIG", "KUSTOMIZE_X", "SKAFFOLD_X", "ARGOCD_SERVER",
	    "ISTIO_X", "TF_CLI_ARGS", "TERRAFORM_CONFIG", "TERRAGRUNT_TFPATH", "TG_TF_PATH",
	    "TOFU_X", "PACKER_CONFIG", "PULUMI_X", "VAGRANT_CWD", "VBOX_X", "LIBVIRT_DEFAULT_URI",
	    "ANSIBLE_CONFIG", "MOLECULE_X", "CHEF_X", "PUPPET_X", "FACTER_X", "SALT_X",
	    /* services */
	    "AZ_X", "ARM_CLIENT_ID", "GCLOUD_PROJECT", "CLOUDSDK_PYTHON", "BOTO_CONFIG",
	    "BOTO_PATH", "DIGITALOCEAN_X", "CLOUDFLARE_X", "HEROKU_X", "VERCEL_X", "NETLIFY_X",
	    "FIREBASE_X", "SENTRY_URL", "SONAR_SCANNER_OPTS", "CODECOV_URL", "SNYK_API", "GITLAB_X",
	    "BITBUCKET_X", "VAULT_ADDR", "CONSUL_HTTP_ADDR", "NOMAD_ADDR", "SOPS_X",
	    "PASSWORD_STORE_DIR", "SIGSTORE_X", "COSIGN_X", "TUF_ROOT", "CODEX_X", "GEMINI_X",
	    "COPILOT_X", "CURSOR_X", "MISTRAL_X", "OLLAMA_X", "OPENROUTER_X", "MCP_X",
	    "DATABASE_URL", "X_DSN", "PGHOSTADDR", "PGPASSFILE", "PGSERVICEFILE", "PGSSLROOTCERT",
	    "PGSYSCONFDIR", "PSQLRC", "MYSQL_HOME", "MARIADB_X", "MONGO_X", "SQLITE_X", "ODBCINI",
	    "ORACLE_HOME", "TNS_ADMIN",
	    /* trust and credentials */
	    "SOCKS_SERVER", "TSOCKS_CONF_FILE", "PROXYCHAINS_CONF_FILE", "SSLKEYLOGFILE",
	    "OPENSSL_CONF", "GNUTLS_SYSTEM_PRIORITY_FILE", "NSS_WRAPPER_PASSWD", "P11_KIT_X",
	    "PKCS11_MODULE", "SOFTHSM2_CONF", "CA_BUNDLE", "REQUESTS_CA_BUNDLE", "X_CA_FILE",
	    "X_CAFILE", "X_CA_CERT", "X_CA_CERTS", "X_CACERT", "X_CERT_FILE", "X_CERT_DIR",
	    "KRB5_CONFIG", "GSS_X", "SASL_X", "LDAPCONF", "GNUPGHOME", "CURL_HOME", "SYSTEM_WGETRC",
	    "X_API_URL", "X_ENDPOINT", "X_ENDPOINT_URL", "TOKEN", "PASSWORD", "X_PASSWD",
	    "X_PASSPHRASE", "X_CREDENTIALS", "X_AUTH",
	    /* desktops */
	    "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "GTK_MODULES",
	    "GTK3_MODULES", "GDK_PIXBUF_MODULE_FILE", "GIO_EXTRA_MODULES", "GSETTINGS_BACKEND",
	    "GST_PLUGIN_PATH", "QT_PLUGIN_PATH", "QTDIR", "QML2_IMPORT_PATH", "VK_ICD_FILENAMES",
	    "OCL_ICD_VENDORS", "LIBGL_DRIVERS_PATH", "MESA_LOADER_DRIVER_OVERRIDE",
	    "ALSA_CONFIG_PATH", "PULSE_SERVER", "SDL_VIDEODRIVER", "FONTCONFIG_FILE",
	    /* the runner */
	    "INPUT_TOKEN_FILE", "STATE_isPost"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		if (!unsafe_variable(names[i]))
			fail_msg("%s counts as safe", names[i]);
}

/* What one import takes from a file: "value", "!why", or "" for nothing. */
static char *
take(const char *word, const char *data, size_t size, size_t before)
{
	struct import import;
	struct importing all = {0};
	struct error e = {0};
	char *made = NULL;
	size_t n;
	FILE *out = open_memstream(&made, &n);

	assert_int_equal(import_parse(&import, word, &e), 0);
	assert_int_equal(import_take(&all, &import, 1, import.kind, data, size, before, &e), 0);
	for (size_t i = 0; i < all.count; i++)
		fprintf(out, "%s%s%s", i > 0 ? ";" : "", all.list[i].value != NULL ? "" : "!",
		    all.list[i].value != NULL ? all.list[i].value : all.list[i].why);
	fclose(out);
	importing_free(&all);
	import_free(&import);
	return made;
}

static void
expect(const char *word, const char *data, size_t size, const char *expected)
{
	char *made = take(word, data, size, 0);

	if (strncmp(made, expected, strlen(expected)) != 0 ||
	    (expected[0] != '!' && strcmp(made, expected) != 0))
		fail_msg("%s from %s: %s", word, data, made);
	free(made);
}

static void
rules_decide_by_the_whole_value(void **state)
{
	(void)state;
	expect("output:a", TEXT("a=1\n"), "1");
	expect("output:a", TEXT("b=1\n"), "");
	expect("output:a", TEXT("a=1\nA=2\n"), "2");
	expect("env:a", TEXT("a=1\nA=2\n"), "1");
	expect("state:a", TEXT("A<<E\nx\ny\nE\n"), "x\ny");
	expect("output:a=enum:pass|fail", TEXT("a=pass\n"), "pass");
	expect("output:a=enum:pass|fail", TEXT("a=pass\na=passed\n"), "!the value is none");
	expect("output:a=enum:pass|fail", TEXT("a=pass|fail\n"), "!the value is none");
	expect("output:a=enum:pass|fail", TEXT("a=\n"), "!the value is none");
	expect("output:a=enum:pass|", TEXT("a=\n"), "");
	expect("output:a=regex:^[0-9]{1,9}$", TEXT("a=123\n"), "123");
	expect("output:a=regex:[0-9]{1,9}", TEXT("a=123\n"), "123");
	expect("output:a=regex:[0-9]{1,9}", TEXT("a=x123\n"), "!the value does not match");
	expect("output:a=regex:^[0-9]+$", TEXT("a<<E\n1\nx\nE\n"), "!the value does not match");
	expect("output:a=regex:^a|b$", TEXT("a=axxx\n"), "!the value does not match");
	expect("output:a=max:3", TEXT("a=123\n"), "123");
	expect("output:a=max:3", TEXT("a=1234\n"), "!the value is too long");
	expect("summary=max:4", TEXT("text"), "text");
	expect("summary=max:3", TEXT("text"), "!the value is too long");
	expect("summary", TEXT(""), "");
}

static void
some_bytes_are_never_carried_over(void **state)
{
	(void)state;
	expect("output:a", TEXT("a=x\0y\n"), "!the value holds a NUL");
	expect("output:a", TEXT("a=x\r\n"), "!the value holds a carriage return");
	expect("output:a", TEXT("a=\xff\n"), "!the value is not valid UTF-8");
	expect("output:a", TEXT("a=\xef\xbf\xbd\n"), "!the value is not valid UTF-8");
	expect("summary", TEXT("a\rb"), "!the value holds a carriage return");
	expect("summary", TEXT("\xff"), "!the value is not valid UTF-8");
	expect("output:a", TEXT("a=1\nb<<E\n"), "!the runner could not read the file");
	expect("output:a", TEXT("a=1\nb\n"), "!the runner could not read the file");
	expect("output:a",
	    TEXT("\xff\xfe"
		 "a=1\n"),
	    "!the runner could not read the file");
}

static void
what_was_there_before_is_not_the_legs(void **state)
{
	static const char data[] = "a=old\nb=1\n";
	char *made = take("output:a", TEXT(data), 6);

	(void)state;
	assert_string_equal(made, "");
	free(made);
	made = take("output:b", TEXT(data), 6);
	assert_string_equal(made, "1");
	free(made);
}

static void
directories_have_to_lie_below(void **state)
{
	char top[] = "/tmp/legguard-import.XXXXXX", word[64], data[256], *made;
	int refused = 0;

	(void)state;
	assert_non_null(mkdtemp(top));
	snprintf(word, sizeof word, "path=under:%s", top);
	snprintf(data, sizeof data, "%s\n%s/missing\n/usr/bin\n%s/..\nrelative\n", top, top, top);
	made = take(word, data, strlen(data), 0);
	assert_int_equal(strncmp(made, top, strlen(top)), 0);
	for (char *at = made; (at = strstr(at, ";")) != NULL; at++, refused++)
		assert_int_equal(at[1], '!');
	assert_int_equal(refused, 4);
	free(made);
	assert_int_equal(rmdir(top), 0);
}

/* Patterns on which a backtracking matcher, or the C library's, would not come to one. */
static void
matching_comes_to_an_end(void **state)
{
	size_t size = 60000;
	char *data = malloc(size + 8);
	char *made;

	(void)state;
	memcpy(data, "a=", 2);
	memset(data + 2, 'x', size);
	memcpy(data + 2 + size, "!\n", 2);
	made = take("output:a=regex:(x+x+)+y", data, size + 4, 0);
	assert_string_equal(made, "!the value does not match");
	free(made);
	/* One whose states are more than can be made. */
	for (size_t i = 0; i < size; i++)
		data[2 + i] = i % 2 == 0 ? 'a' : 'b';
	made = take("output:a=regex:(.{0,100}){0,100}", data, size + 4, 0);
	assert_string_equal(made, "!the regular expression takes too long for the value");
	free(made);
	free(data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(entries_that_make_no_sense_are_refused),
	    cmocka_unit_test(what_runs_code_or_redirects_trust_is_unsafe),
	    cmocka_unit_test(so_is_what_common_tools_act_by),
	    cmocka_unit_test(rules_decide_by_the_whole_value),
	    cmocka_unit_test(some_bytes_are_never_carried_over),
	    cmocka_unit_test(what_was_there_before_is_not_the_legs),
	    cmocka_unit_test(directories_have_to_lie_below),
	    cmocka_unit_test(matching_comes_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
