/* Variables that are dangerous to set for others. See unsafe.h. */
#include "guard/unsafe.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/*
 * A list of what is known, which can't be complete: variables that run code, choose programs, files or hosts to
 * trust, or credentials. A * at the end or the start stands for the rest. Compared without case: some tools look at
 * http_proxy and some at HTTP_PROXY.
 */
static const char *const unsafe[] = {"PATH", "*_PATH", "*PATH", "LD_*", "BASH*", "ENV", "SHELL*",
    "PS4", "IFS", "HOME", "*_HOME", "XDG_*", "TMPDIR", "GIT_*", "SSH_*", "NODE_*", "NPM_*",
    "PYTHON*", "PYTEST_*", "PIP_*", "UV_*", "RUBY*", "PERL*", "JAVA*", "JDK_*", "_JAVA_*",
    "MAVEN_*", "M2_*", "GRADLE_*", "CARGO*", "RUST*", "GO*", "CGO_*", "CC", "CXX", "CPP", "AR",
    "AS", "LD", "MAKE*", "*FLAGS", "*_OPTIONS", "*_OPTS", "*_ARGS", "DOCKER_*", "CONTAINER_*",
    "*_PROXY", "SSL_*", "OPENSSL_*", "*_CA_BUNDLE", "*_TOKEN", "*_KEY", "*_SECRET", "*_PASSWORD",
    "*_PAGER", "PAGER", "*_EDITOR", "EDITOR", "VISUAL", "BROWSER", "AWS_*", "AZURE_*", "GOOGLE_*",
    "GCP_*", "ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "GH_*", "GITHUB_*", "RUNNER_*", "ACTIONS_*",
    "LEGGUARD_*", "CDPATH", "FPATH", "GLOBIGNORE", "PROMPT_COMMAND", "ZDOTDIR", "LESS*", "MAN*",
    "GCONV_*", "GCC_*", "GLIBC_*", "HOSTALIASES", "LOCPATH", "MALLOC_*", "NLSPATH", "RES_OPTIONS",
    "TZDIR", "YARN_*", "PNPM_*", "BUN_*", "DENO_*", "ELECTRON_*", "BUNDLE_*", "GEM_*", "COMPOSER_*",
    "PHP*", "LUA_*", "CMAKE_*", "MESON_*", "PKG_CONFIG_*", "KUBE*", "HELM_*", "TF_*", "NIX_*",
    "CURL_*", "WGETRC", "NETRC", "GNUPGHOME", "GPG_*", "DOTNET_*", "CORECLR_*", "COR_*",
    "CLASSPATH", "VIM*", "EMACS*", "SYSTEMD_*", "CI", "SUDO_*", "VIRTUAL_ENV", "CONDA_*",
    "*_REGISTRY", "*_INDEX_URL", "*_BASE_URL", "*_HOST", "TAR_*"};

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
	for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++)
		if (fits(unsafe[i], name))
			return true;
	return false;
}
