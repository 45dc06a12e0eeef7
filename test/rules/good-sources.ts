/** Sources the language accepts, each with the tree it must give and its printed form. */
import type { Comparison, Expression } from "../../src/rules/ast.js";

interface GoodSource {
  readonly source: string;
  readonly ast: Expression;
  readonly printed: string;
}

function cmp(field: string, op: Comparison["op"], value: Comparison["value"]): Comparison {
  return { type: "cmp", op, field, value };
}

const low = cmp("score", "<", 30);
const login = cmp("path", "==", "/login");
const verified = cmp("verified_bot", "==", true);
const member = cmp("js_detected", "==", true);

function same(source: string, ast: Expression): GoodSource {
  return { source, ast, printed: source };
}

export const goodSources: readonly GoodSource[] = [
  same('band == "definite"', cmp("band", "==", "definite")),
  same('band == "likely_automated"', cmp("band", "==", "likely_automated")),
  same('band == "not_computed"', cmp("band", "==", "not_computed")),
  same('score < 30 AND path == "/login"', { type: "and", nodes: [low, login] }),
  same("score < 30 AND NOT verified_bot", { type: "and", nodes: [low, { type: "not", node: verified }] }),
  same("verified_bot", verified),
  { source: "verified_bot == true", ast: verified, printed: "verified_bot" },
  same("verified_bot == false", cmp("verified_bot", "==", false)),
  same("verified_bot != true", cmp("verified_bot", "!=", true)),
  same('score < 30 AND path == "/login" AND verified_bot', { type: "and", nodes: [low, login, verified] }),
  same('score < 30 OR path == "/login" OR verified_bot', { type: "or", nodes: [low, login, verified] }),
  same("verified_bot OR score < 30 AND js_detected", {
    type: "or",
    nodes: [verified, { type: "and", nodes: [low, member] }],
  }),
  same("(verified_bot OR score < 30) AND js_detected", {
    type: "and",
    nodes: [{ type: "or", nodes: [verified, low] }, member],
  }),
  same("(verified_bot AND score < 30) AND js_detected", {
    type: "and",
    nodes: [{ type: "and", nodes: [verified, low] }, member],
  }),
  same("verified_bot OR (score < 30 OR js_detected)", {
    type: "or",
    nodes: [verified, { type: "or", nodes: [low, member] }],
  }),
  same("NOT NOT verified_bot", { type: "not", node: { type: "not", node: verified } }),
  same("NOT (verified_bot OR js_detected)", { type: "not", node: { type: "or", nodes: [verified, member] } }),
  { source: "NOT score < 30", ast: { type: "not", node: low }, printed: "NOT score < 30" },
  { source: "((score < 30))", ast: low, printed: "score < 30" },
  {
    source: "(verified_bot AND js_detected) OR score < 30",
    ast: { type: "or", nodes: [{ type: "and", nodes: [verified, member] }, low] },
    printed: "verified_bot AND js_detected OR score < 30",
  },
  {
    source: "not verified_bot aNd js_detected oR score<30",
    ast: {
      type: "or",
      nodes: [{ type: "and", nodes: [{ type: "not", node: verified }, member] }, low],
    },
    printed: "NOT verified_bot AND js_detected OR score < 30",
  },
  {
    source: '\n  score<30\r\n\tAND(path=="/login")',
    ast: { type: "and", nodes: [low, login] },
    printed: 'score < 30 AND path == "/login"',
  },
  {
    source: 'path Contains "/admin" OR host ENDS_WITH ".example" OR path STARTS_WITH "/a" OR path WildCard "*.php"',
    ast: {
      type: "or",
      nodes: [
        cmp("path", "contains", "/admin"),
        cmp("host", "ends_with", ".example"),
        cmp("path", "starts_with", "/a"),
        cmp("path", "wildcard", "*.php"),
      ],
    },
    printed: 'path contains "/admin" OR host ends_with ".example" OR path starts_with "/a" OR path wildcard "*.php"',
  },
  {
    source: 'method IN{"GET","POST"}',
    ast: cmp("method", "in", ["GET", "POST"]),
    printed: 'method in {"GET", "POST"}',
  },
  same('method in {"GET"}', cmp("method", "in", ["GET"])),
  same("score in {1, 2, 2}", cmp("score", "in", [1, 2, 2])),
  same('verified_bot_category in {"search", "seo"}', cmp("verified_bot_category", "in", ["search", "seo"])),
  same('ip == "203.0.113.0/24"', cmp("ip", "==", "203.0.113.0/24")),
  same('ip in {"203.0.113.7", "2001:db8::/32", "::ffff:10.0.0.0/104"}', {
    type: "cmp",
    op: "in",
    field: "ip",
    value: ["203.0.113.7", "2001:db8::/32", "::ffff:10.0.0.0/104"],
  }),
  same("detection_ids contains 200101", cmp("detection_ids", "contains", 200101)),
  same("score >= -2147483648 AND score <= 2147483647", {
    type: "and",
    nodes: [cmp("score", ">=", -2147483648), cmp("score", "<=", 2147483647)],
  }),
  { source: "score == -0", ast: cmp("score", "==", 0), printed: "score == 0" },
  same('user_agent == "say \\"hi\\" \\\\ AND (OR"', cmp("user_agent", "==", 'say "hi" \\ AND (OR')),
  same('path == ""', cmp("path", "==", "")),
  same('user_agent contains "🤖 é\t"', cmp("user_agent", "contains", "🤖 é\t")),
];
