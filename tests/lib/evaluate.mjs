/*
 * Evaluates expressions of workflows as GitHub does, with its own package @actions/expressions.
 *
 *   node evaluate.mjs NODE_MODULES
 *
 * Each line of standard input is a question in JSON, {"text": ..., "contexts": {"needs": {...}, ...}, "cancelled": bool,
 * "condition": bool}, and each line of standard output the answer. With condition text is the `if` of a job or step, and
 * the answer whether it runs: without a status function in it, only if all that it needs has succeeded. Without, text is
 * a value with `${{ }}` in it.
 */
import { createInterface } from 'node:readline';

const from = `${process.argv[2]}/@actions/expressions/dist`;
const { Parser, Lexer, Evaluator, data } = await import(`${from}/index.js`);
const { truthy } = await import(`${from}/result.js`);

/* A value as the package has it. */
const convert = (value) =>
	typeof value === 'boolean' ? new data.BooleanData(value)
	: typeof value === 'string' ? new data.StringData(value)
	: new data.Dictionary(...Object.entries(value).map(([key, v]) => ({ key, value: convert(v) })));

function evaluate(text, { contexts, cancelled = false }) {
	const results = Object.values(contexts.needs ?? {}).map((job) => job.result);
	const status = {
		always: true,
		cancelled,
		success: !cancelled && results.every((result) => result === 'success'),
		failure: !cancelled && results.includes('failure'),
	};
	const functions = Object.entries(status).map(([name, value]) =>
		({ name, minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(value) }));
	const parser = new Parser(new Lexer(text).lex().tokens, Object.keys(contexts), functions);
	return new Evaluator(parser.parse(), convert(contexts), new Map(functions.map((f) => [f.name, f]))).evaluate();
}

function answer(question) {
	if (!question.condition)
		return question.text.replace(/\$\{\{([^]*?)\}\}/g, (_, text) => evaluate(text, question).coerceString());
	const text = question.text.replace(/^\s*\$\{\{([^]*)\}\}\s*$/, '$1');
	const whole = /\b(always|cancelled|success|failure)\s*\(/i.test(text) ? text : `success() && (${text})`;
	return truthy(evaluate(whole, question));
}

for await (const line of createInterface({ input: process.stdin }))
	console.log(JSON.stringify(answer(JSON.parse(line))));
