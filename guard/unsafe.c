/* Variables that are dangerous to set for others. See unsafe.h. */
#include "guard/unsafe.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/*
 * Lists of what is known, which can't be complete. A * at the end or the start stands for the rest. Compared without case:
 * some tools look at http_proxy and some at HTTP_PROXY. A prefix stands for the tool whose variables begin like that: most tools
 * have one for a program, a plug-in, a configuration or a host, and get new ones.
 */
static const char *const by_meaning[] = {"PATH", "*_PATH", "*PATH", "HOME", "*_HOME", "TMPDIR",
    "TEMP", "TMP", "TEMPDIR", "PWD", "OLDPWD", "USER", "LOGNAME", "USERNAME", "*FLAGS", "*_OPTIONS",
    "*_OPTS", "*_ARGS", "*_COMMAND", "*_CMD", "*PASSCOMMAND", "*_EXE", "*_EXECUTABLE", "*_BIN",
    "*_BINARY", "*_PROGRAM", "*_SHELL", "*_WRAPPER", "*_LAUNCHER", "*_LINKER", "*_PRELOAD",
    "*_PLUGIN", "*_PLUGINS", "*_HOOK", "*_HOOKS", "*_CONFIG", "*_CONFIG_FILE", "*_CONFIG_DIR",
    "*_CONF", NULL};

static const char *const the_loader_and_libc[] = {"LD_*", "DYLD_*", "GCONV_*", "GETCONF_*",
    "GLIBC_*", "HOSTALIASES", "LOCALDOMAIN", "LOCPATH", "MALLOC_*", "MEMUSAGE*", "NLSPATH",
    "PCPROFILE_*", "POSIXLY_CORRECT", "RES_OPTIONS", "RESOLV_*", "SEGFAULT_*", "TERMCAP",
    "TERMINFO*", "TEXTDOMAINDIR", "TZDIR", NULL};

static const char *const shells_and_terminals[] = {"BASH*", "ENV", "SHELL*", "PS0", "PS1", "PS2",
    "PS3", "PS4", "IFS", "CDPATH", "FPATH", "FIGNORE", "GLOBIGNORE", "EXECIGNORE", "PROMPT",
    "PROMPT_COMMAND", "RPROMPT", "NULLCMD", "READNULLCMD", "ARGV0", "FCEDIT", "HISTFILE", "INPUTRC",
    "EDITRC", "ZDOTDIR", "KSH_*", "FISH_*", "DIRENV_*", "TMUX*", "SCREENRC", "SCREENDIR", "STY",
    "COMSPEC", "PATHEXT", "SYSTEMROOT", "WINDIR", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
    "USERPROFILE", "POWERSHELL*", NULL};

static const char *const programs_for_people[] = {"*_PAGER", "PAGER", "MAN*", "LESS*", "LYNX_*",
    "*_EDITOR", "EDITOR", "VISUAL", "VIM*", "NVIM*", "MYVIMRC", "EXINIT", "EMACS*", "BROWSER",
    "*_ASKPASS", "PINENTRY*", "MAIL", "MAILRC", "MAILCAP", "MAILCAPS", "DIALOGRC", "FZF_*",
    "TEXMF*", "*INPUTS", "GS_*", "MAGICK_*", "GNUPLOT*", NULL};

/* Programs that start others, or take options from a variable. */
static const char *const tools[] = {"*_RSH", "RSH", "RSYNC_*", "RCLONE_*", "RESTIC_*", "BORG_*",
    "TAR_*", "TAPE", "ZIP", "ZIPOPT", "UNZIP", "UNZIPOPT", "GZIP", "BZIP", "BZIP2", "XZ_*",
    "ZSTD_*", "PARALLEL", "PARALLEL_*", "PATCH_*", "QUILT_*", "SUDO_*", "SYSTEMD_*", "LISTEN_*",
    "NOTIFY_SOCKET", "AUTOSSH_*", "SSH_*", "SSHPASS", "GDB*", "LLDB*", "VALGRIND_*", "STRACE_*",
    "GCOV_*", "LLVM_*", "DEBUGINFOD_*", NULL};

static const char *const version_control[] = {"GIT_*", "GH_*", "GLAB_*", "HUB_*", "HG*", "SVN_*",
    "CVS", "CVS_*", "CVSROOT", "CVSEDITOR", "CVSREAD", "CVSIGNORE", "CVSWRAPPERS", "BZR_*", "BRZ_*",
    "P4*", "PRE_COMMIT_*", "HUSKY*", "LEFTHOOK*", NULL};

static const char *const compiling[] = {"CC", "CC_*", "CXX", "CXX_*", "HOST_CC", "HOST_CXX",
    "HOST_AR", "TARGET_CC", "TARGET_CXX", "TARGET_AR", "BUILD_CC", "BUILD_CXX", "BUILD_AR", "CPP",
    "CXXCPP", "HOSTCC", "HOSTCXX", "HOSTAR", "AR", "AR_*", "AS", "LD", "NM", "STRIP", "RANLIB",
    "OBJCOPY", "OBJDUMP", "READELF", "FC", "F77", "F90", "F95", "OBJC", "OBJCXX", "NASM", "YASM",
    "WINDRES", "LEX", "FLEX", "YACC", "BISON*", "M4", "SED", "AWK", "GREP", "EGREP", "FGREP",
    "INSTALL", "LN_S", "CONFIG_SITE", "CONFIG_SHELL", "AUTOCONF", "AUTOHEADER", "AUTOMAKE",
    "AUTORECONF", "AUTOPOINT", "AUTOM4TE*", "ACLOCAL*", "LIBTOOL*", "LT_*", "MAKE*", "CMAKE_*",
    "CTEST_*", "MESON*", "NINJA*", "QMAKE*", "SWIG*", "CROSS_*", "KBUILD_*", "GCC_*", "CLANG_*",
    "COLLECT_*", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "CCACHE*", "SCCACHE*", "DISTCC*",
    "ICECC*", "PKG_CONFIG*", "NVCC*", "BAZEL*", "USE_BAZEL_VERSION", "PANTS_*", "SPACK_*",
    "VCPKG_*", "CONAN_*", "DEVELOPER_DIR", "SDKROOT", "TOOLCHAINS", "SWIFT_*", "XCODE_*",
    "ANDROID_*", "ADB_*", "COCOAPODS_*", "CP_HOME_DIR", "FASTLANE_*", NULL};

static const char *const node[] = {"NODE_*", "NPM_*", "NVM_*", "FNM_*", "VOLTA_*", "YARN_*",
    "PNPM_*", "BUN_*", "DENO_*", "COREPACK_*", "ELECTRON_*", "TS_NODE_*", "TSX_*", "JEST_*",
    "MOCHA_*", "ESLINT_*", "BABEL_*", "PLAYWRIGHT_*", "PUPPETEER_*", "CYPRESS_*", "CHROME_*",
    "CHROMIUM_*", "FIREFOX_*", "MOZ_*", "SELENIUM_*", "SE_*", NULL};

static const char *const python[] = {"PYTHON*", "PYTEST_*", "PYENV_*", "PYLINT*", "MYPY*", "PIP_*",
    "PIPX_*", "PIPENV_*", "POETRY_*", "PDM_*", "HATCH_*", "TOX_*", "NOX*", "UV_*", "RUFF_*",
    "VIRTUAL_ENV", "VIRTUALENV_*", "CONDA_*", "MAMBA_*", "JUPYTER*", "IPYTHON*", "FLASK_*",
    "DJANGO_*", "CELERY_*", "MPLBACKEND", "MPLCONFIGDIR", "NUMBA_*", "TORCH_*", "CUDA_*", "HF_*",
    NULL};

static const char *const virtual_machines[] = {"JAVA*", "JDK_*", "_JAVA_*", "JVM_*", "CLASSPATH",
    "MAVEN_*", "M2_*", "MVN*", "GRADLE_*", "ANT_*", "IVY_*", "SBT_*", "SCALA_*", "KOTLIN*",
    "GROOVY*", "LEIN_*", "CLJ_*", "CATALINA_*", "JETTY_*", "JBOSS_*", "SDKMAN_*", "DOTNET_*",
    "COMPLUS_*", "CORECLR_*", "COR_*", "MSBUILD*", "NUGET_*", "MONO_*", "ASPNETCORE_*", "ERL_*",
    "ELIXIR_*", "MIX_*", "HEX_*", "REBAR_*", "DART_*", "PUB_*", "FLUTTER_*", NULL};

static const char *const other_languages[] = {"CARGO*", "RUST*", "GO*", "CGO_*", "RUBY*", "JRUBY*",
    "GEM_*", "BUNDLE*", "RBENV_*", "RVM_*", "RAILS_*", "RACK_*", "RAKE*", "PERL*", "PHP*",
    "COMPOSER*", "XDEBUG_*", "LUA_*", "LUAJIT*", "LUAROCKS*", "OCAML*", "CAML*", "OPAM*", "DUNE_*",
    "GHC*", "STACK_*", "CABAL_*", "R_*", "RSCRIPT*", "RSTUDIO_*", "RENV_*", "JULIA_*", "OCTAVE_*",
    "MATLAB*", "TCL*", "GUILE_*", "SBCL_*", "ASDF_*", "MISE_*", NULL};

static const char *const packages_and_machines[] = {"APT_*", "DEBCONF_*", "DEBIAN_*", "DPKG_*",
    "RPM_*", "DNF_*", "HOMEBREW_*", "NIX_*", "GUIX_*", "FLATPAK_*", "SNAPCRAFT_*", "DOCKER_*",
    "BUILDKIT_*", "BUILDX_*", "BUILDAH_*", "PODMAN_*", "COMPOSE_*", "CONTAINER*", "REGISTRY_*",
    "KUBE*", "HELM_*", "KUSTOMIZE_*", "SKAFFOLD_*", "ARGOCD_*", "ISTIO*", "TF_*", "TERRAFORM*",
    "TERRAGRUNT_*", "TG_*", "TOFU_*", "PACKER_*", "PULUMI_*", "VAGRANT_*", "VBOX_*", "LIBVIRT_*",
    "ANSIBLE_*", "MOLECULE_*", "CHEF_*", "PUPPET*", "FACTER_*", "SALT_*", NULL};

static const char *const services[] = {"AWS_*", "AZURE_*", "AZ_*", "ARM_*", "GOOGLE_*", "GCP_*",
    "GCLOUD_*", "CLOUDSDK_*", "BOTO*", "DIGITALOCEAN_*", "CLOUDFLARE_*", "HEROKU_*", "VERCEL_*",
    "NETLIFY_*", "FIREBASE_*", "SENTRY_*", "SONAR_*", "CODECOV_*", "SNYK_*", "GITLAB_*",
    "BITBUCKET_*", "VAULT_*", "CONSUL_*", "NOMAD_*", "SOPS_*", "PASSWORD_STORE_*", "SIGSTORE_*",
    "COSIGN_*", "TUF_*", "ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "CODEX_*", "GEMINI_*", "COPILOT_*",
    "CURSOR_*", "MISTRAL_*", "OLLAMA_*", "OPENROUTER_*", "MCP_*", "DATABASE_URL", "*_DSN",
    "PGHOST*", "PGPASS*", "PGSERVICE*", "PGSSL*", "PGSYSCONFDIR", "PSQL*", "MYSQL*", "MARIADB*",
    "MONGO*", "SQLITE*", "ODBC*", "ORACLE_*", "TNS_ADMIN", NULL};

static const char *const trust[] = {"*_PROXY", "SOCKS*", "TSOCKS*", "PROXYCHAINS*", "SSL*",
    "OPENSSL_*", "GNUTLS_*", "NSS_*", "P11_*", "PKCS11_*", "SOFTHSM2_*", "CA_BUNDLE", "*_CA_BUNDLE",
    "*_CA_FILE", "*_CAFILE", "*_CA_CERT", "*_CA_CERTS", "*_CACERT", "*_CERT_FILE", "*_CERT_DIR",
    "KRB5*", "GSS_*", "SASL_*", "LDAP*", "GNUPGHOME", "GPG_*", "CURL_*", "WGETRC", "SYSTEM_WGETRC",
    "NETRC", "*_REGISTRY", "*_INDEX_URL", "*_BASE_URL", "*_API_URL", "*_ENDPOINT", "*_ENDPOINT_URL",
    "*_HOST", NULL};

static const char *const credentials[] = {"TOKEN", "*_TOKEN", "*_KEY", "*_SECRET", "PASSWORD",
    "*_PASSWORD", "*_PASSWD", "*_PASSPHRASE", "*_CREDENTIALS", "*_AUTH", NULL};

static const char *const desktops[] = {"XDG_*", "DBUS_*", "DISPLAY", "WAYLAND_*", "XAUTHORITY",
    "GTK*", "GDK_*", "GIO_*", "GSETTINGS_*", "GST_*", "QT_*", "QTDIR", "QML*", "VK_*", "OCL_*",
    "LIBGL_*", "MESA_*", "ALSA_*", "PULSE_*", "SDL_*", "FONTCONFIG_*", NULL};

/* Actions get their inputs, and what they save for their ends, by such names. */
static const char *const the_runner[] = {
    "GITHUB_*", "RUNNER_*", "ACTIONS_*", "INPUT_*", "STATE_*", "LEGGUARD_*", "CI", NULL};

static const char *const *const lists[] = {by_meaning, the_loader_and_libc, shells_and_terminals,
    programs_for_people, tools, version_control, compiling, node, python, virtual_machines,
    other_languages, packages_and_machines, services, trust, credentials, desktops, the_runner};

static bool
fits(const char *pattern, const char *name)
{
	size_t n = strlen(pattern), length = strlen(name);

	if (pattern[0] == '*')
		return length >= n - 1 && strcasecmp(name + length - (n - 1), pattern + 1) == 0;
	if (pattern[n - 1] == '*')
		return strncasecmp(name, pattern, n - 1) == 0;
	return strcasecmp(name, pattern) == 0;
}

bool
unsafe_variable(const char *name)
{
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		for (const char *const *pattern = lists[i]; *pattern != NULL; pattern++)
			if (fits(*pattern, name))
				return true;
	return false;
}
