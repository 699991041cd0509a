/** Reads the text of a query without a database: its `$name` placeholders, and whether it is a single read-only statement. */
import type { QueryMistake } from './source.ts'

/** How one database's SQL is divided into tokens, as far as placeholders and statement ends need it. */
export interface SqlLexis {
  /** Characters that separate tokens. */
  readonly blanks: string
  /** Characters that open a quoted identifier. `]` closes `[`; each of the others closes itself. */
  readonly identifierQuotes: string
  /** Characters that end a `--` comment. */
  readonly lineEnds: string
  /** Block comments may be nested. */
  readonly nestedComments: boolean
  /** `$$…$$` and `$tag$…$tag$` are strings, and `E'…'` has backslash escapes. */
  readonly dollarQuotes: boolean
  /** `$name::type` is a cast of `$name`. */
  readonly casts: boolean
  /** Matches, at its `lastIndex`, placeholders other than `$name`, which are never bound. */
  readonly otherPlaceholder?: RegExp
}

/** SQLite's tokens, where `?`, `?1`, `:name` and `@name` are placeholders too. */
export const SQLITE_LEXIS: SqlLexis = Object.freeze({
  blanks: ' \t\n\f\r',
  identifierQuotes: '"`[',
  lineEnds: '\n',
  nestedComments: false,
  dollarQuotes: false,
  casts: false,
  otherPlaceholder: /\?\d*|[:@#][\w$\u0080-\uffff]+/y,
})

/**
 * PostgreSQL's tokens, where `?`, `@` and `:` are operators. Assumes `standard_conforming_strings`, its default. A vertical
 * tab is a blank since version 16, and an error before.
 */
export const POSTGRES_LEXIS: SqlLexis = Object.freeze({
  blanks: ' \t\n\f\r\v',
  identifierQuotes: '"',
  lineEnds: '\n\r',
  nestedComments: true,
  dollarQuotes: true,
  casts: true,
})

/** The maximum length of a query's text, in characters. */
export const MAX_QUERY_LENGTH = 65_536

/** One `$name` of a query; `start` and `end` are offsets in the statement. */
interface Placeholder {
  readonly name: string
  readonly start: number
  readonly end: number
}

/** The result of reading a query's text. Run `statement`, not the text: it lacks the surrounding blanks, comments and `;`. */
export interface QueryText {
  readonly statement: string
  /** The offset of the statement in the text. */
  readonly start: number
  readonly placeholders: readonly Placeholder[]
  /** The first ten mistakes, in the order of the text. A query with a mistake must not run. */
  readonly mistakes: readonly QueryMistake[]
}

type TokenKind = 'blank' | 'word' | 'quoted' | 'unclosed' | 'placeholder' | 'unbindable' | 'symbol'

interface Token {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
  readonly text: string
}

interface Finding {
  readonly problem: QueryMistake['problem']
  readonly start: number
  readonly say: (place: string) => string
}

const MAX_MISTAKES = 10
const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|\d[\w.]*/y
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y
const DOLLAR_WORD = /\$[\w$\u0080-\uffff]*/y
const PLACEHOLDER = /^\$[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*$/
const QUOTED_PLACEHOLDER = /(?<![\w$\u0080-\uffff])\$[A-Za-z_][\w]*/

const READS = new Set(['SELECT', 'VALUES'])
const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'REPLACE', 'MERGE'])

/** Reads a query's text. Pure, linear in its length, and never throws: every problem becomes a mistake. */
export function readQueryText(sql: string, lexis: SqlLexis): QueryText {
  const unreadable = findUnreadable(sql)
  if (unreadable !== undefined)
    return { statement: '', start: 0, placeholders: [], mistakes: [mistakeAt(sql, unreadable)] }
  const tokens = tokenize(sql, lexis)
  const stop = tokens.findIndex((token) => token.text === ';')
  const own = stop < 0 ? tokens : tokens.slice(0, stop)
  const base = own[0]?.start ?? 0
  const findings = [
    ...findSecondStatement(tokens, stop),
    ...findWrites(own),
    ...findBadTokens(tokens),
    ...findTwoFaced(tokens, lexis),
  ]
  return {
    statement: sql.slice(base, own.at(-1)?.end ?? base),
    start: base,
    placeholders: own
      .filter((token) => token.kind === 'placeholder')
      .map((token) => ({ name: token.text.slice(1), start: token.start - base, end: token.end - base })),
    mistakes: findings
      .sort((a, b) => a.start - b.start)
      .slice(0, MAX_MISTAKES)
      .map((finding) => mistakeAt(sql, finding)),
  }
}

/** The names that need a value, each once, in the order of the text. */
export function placeholderNames(text: QueryText): readonly string[] {
  return [...new Set(text.placeholders.map((placeholder) => placeholder.name))]
}

/** The position of a word from a database's error, if it occurs exactly once outside quotes; otherwise the start of the text. */
export function placeOfWord(sql: string, word: string, lexis: SqlLexis): { line: number; column: number } {
  const tokens = tokenize(sql, lexis)
  const found = tokens.filter((token) => token.text.toLowerCase() === word.toLowerCase())
  return placeAt(sql, (found.length === 1 ? found[0] : tokens[0])?.start ?? 0)
}

/** A name that may be a function call, as the database reads it, and its position in the text. */
interface PossibleCall {
  readonly name: string
  readonly line: number
  readonly column: number
}

/** Every name before a `(` or after a `.`, since PostgreSQL also calls `f` for `(x).f`. A false positive is safer than a miss. */
export function possibleCalls(sql: string, lexis: SqlLexis): readonly PossibleCall[] {
  const tokens = tokenize(sql, lexis)
  return tokens.flatMap((token, index) => {
    const isName = token.kind === 'word' || lexis.identifierQuotes.includes(token.text.charAt(0))
    if (!isName || (tokens[index + 1]?.text !== '(' && tokens[index - 1]?.text !== '.')) return []
    const name = token.kind === 'word' ? token.text.toLowerCase() : token.text.slice(1, -1).replaceAll('""', '"')
    return [{ name, ...placeAt(sql, token.start) }]
  })
}

function findUnreadable(sql: string): Finding | undefined {
  if (sql.length > MAX_QUERY_LENGTH) {
    const say = () => `The query has ${sql.length} characters; at most ${MAX_QUERY_LENGTH} are allowed.`
    return { problem: 'invalid', start: 0, say }
  }
  const unseen = sql.search(/[\0\ufeff]/) // databases differ in what these two end or begin
  if (unseen >= 0) {
    return { problem: 'invalid', start: unseen, say: (at) => `The query has a NUL or a byte order mark at ${at}.` }
  }
  if (sql.isWellFormed()) return undefined
  return { problem: 'invalid', start: 0, say: () => 'The query is not well-formed Unicode.' }
}

function findSecondStatement(tokens: readonly Token[], stop: number): Finding[] {
  if (stop < 0 || stop === tokens.length - 1) return []
  const start = tokens[stop]?.start ?? 0
  return [{ problem: 'not-read-only', start, say: (at) => `Only one SELECT is allowed; found \`;\` at ${at}.` }]
}

/** The verb that decides, and writes inside a SELECT: `INTO`, a row lock, and a WITH part that changes rows. */
function findWrites(tokens: readonly Token[]): Finding[] {
  const first = tokens[0]
  if (first === undefined) return [{ problem: 'invalid', start: 0, say: () => 'The query is empty.' }]
  const verb = upper(first) === 'WITH' ? mainVerb(tokens) : first
  if (verb === undefined)
    return [{ problem: 'invalid', start: first.start, say: (at) => `\`WITH\` at ${at} has no SELECT.` }]
  const hidden = tokens.filter((token, index) => writesInside(token, tokens[index - 1], tokens[index - 2]))
  return (READS.has(upper(verb)) ? hidden : [verb, ...hidden]).map(({ text, start }) => ({
    problem: 'not-read-only',
    start,
    say: (at) => `Only SELECT, VALUES and WITH … SELECT are allowed; found \`${text.slice(0, 40)}\` at ${at}.`,
  }))
}

/** The first verb outside parentheses that is not the name of a WITH part. */
function mainVerb(tokens: readonly Token[]): Token | undefined {
  let depth = 0
  return tokens.find((token, index) => {
    if (token.text === '(') depth += 1
    if (token.text === ')') depth -= 1
    const isVerb = token.kind === 'word' && (READS.has(upper(token)) || WRITES.has(upper(token)))
    return isVerb && depth === 0 && !['WITH', 'RECURSIVE', ','].includes(upper(tokens[index - 1]))
  })
}

function writesInside(token: Token, previous: Token | undefined, beforeThat: Token | undefined): boolean {
  if (token.kind !== 'word') return false
  if (upper(token) === 'INTO') return !['.', 'AS'].includes(upper(previous))
  if (upper(previous) === 'FOR' && ['UPDATE', 'SHARE', 'NO', 'KEY'].includes(upper(token))) return true
  return WRITES.has(upper(token)) && previous?.text === '(' && ['AS', 'MATERIALIZED'].includes(upper(beforeThat))
}

function findBadTokens(tokens: readonly Token[]): Finding[] {
  return tokens.flatMap((token): Finding[] => {
    const { kind, start, text } = token
    if (kind === 'unclosed') {
      return [
        { problem: 'invalid', start, say: (at) => `What \`${text.slice(0, 2)}\` opens at ${at} is never closed.` },
      ]
    }
    if (kind === 'unbindable') {
      const say = (at: string) => `Placeholders are written \`$name\`; found \`${text.slice(0, 40)}\` at ${at}.`
      return [{ problem: 'invalid', start, say }]
    }
    const inside = kind === 'quoted' ? QUOTED_PLACEHOLDER.exec(quotedBody(text)) : null
    if (inside === null) return []
    const say = (at: string) =>
      `\`${inside[0]}\` stands inside quotes at ${at}, where it is plain text; take the quotes away.`
    return [{ problem: 'not-read-only', start, say }]
  })
}

/** Two forms that PostgreSQL would divide differently from this reader: a string over several lines, and a name in escapes. */
function findTwoFaced(tokens: readonly Token[], lexis: SqlLexis): Finding[] {
  if (!lexis.dollarQuotes) return []
  return tokens.flatMap((token, index): Finding[] => {
    const [next, afterNext] = [tokens[index + 1], tokens[index + 2]]
    if (/^[eE]'/.test(token.text) && next?.text.startsWith("'")) {
      return [{ problem: 'invalid', start: next.start, say: (at) => `Write the string that goes on at ${at} as one.` }]
    }
    const isEscaped = next?.text === '&' && afterNext?.kind === 'quoted' && afterNext.start === token.end + 1
    if (upper(token) !== 'U' || !isEscaped) return []
    const say = (at: string) => `Write the name or text at ${at} without \`U&\`.`
    return [{ problem: 'invalid', start: token.start, say }]
  })
}

/** The text between the quotes, so that a dollar quote's own tag is not taken for a placeholder. */
function quotedBody(text: string): string {
  DOLLAR_TAG.lastIndex = 0
  const tag = text.startsWith('$') ? (DOLLAR_TAG.exec(text)?.[0].length ?? 1) : 1
  return text.slice(tag, -tag)
}

function tokenize(sql: string, lexis: SqlLexis): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < sql.length; ) {
    const { kind, end } = scan(sql, at, lexis)
    if (kind !== 'blank') tokens.push({ kind, start: at, end, text: sql.slice(at, end) })
    at = end
  }
  return tokens
}

interface Scanned {
  readonly kind: TokenKind
  readonly end: number
}

function scan(sql: string, at: number, lexis: SqlLexis): Scanned {
  const char = sql.charAt(at)
  if (lexis.blanks.includes(char)) return { kind: 'blank', end: at + 1 }
  if (sql.startsWith('--', at)) return scanLineComment(sql, at, lexis)
  if (sql.startsWith('/*', at)) return scanBlockComment(sql, at, lexis)
  if (char === "'" || lexis.identifierQuotes.includes(char)) return scanQuoted(sql, at, false)
  if (lexis.dollarQuotes && /[eE]/.test(char) && sql[at + 1] === "'") return scanQuoted(sql, at + 1, true)
  if (char === '$') return scanDollar(sql, at, lexis)
  const word = matchEnd(WORD, sql, at)
  if (word !== undefined) return { kind: 'word', end: word }
  const other = lexis.otherPlaceholder && matchEnd(lexis.otherPlaceholder, sql, at)
  return other === undefined ? { kind: 'symbol', end: at + 1 } : { kind: 'unbindable', end: other }
}

function scanLineComment(sql: string, at: number, lexis: SqlLexis): Scanned {
  let end = at
  while (end < sql.length && !lexis.lineEnds.includes(sql.charAt(end))) end += 1
  return { kind: 'blank', end }
}

function scanBlockComment(sql: string, at: number, lexis: SqlLexis): Scanned {
  for (let end = at + 2, depth = 1; end < sql.length; ) {
    const pair = sql.slice(end, end + 2)
    if (pair === '*/') depth -= 1
    if (pair === '/*' && lexis.nestedComments) depth += 1
    end += pair === '*/' || (pair === '/*' && lexis.nestedComments) ? 2 : 1
    if (depth === 0) return { kind: 'blank', end }
  }
  return { kind: 'unclosed', end: sql.length }
}

/** A doubled closing quote is an escaped quote, except after `[`, because `]` cannot be doubled. */
function scanQuoted(sql: string, at: number, backslashes: boolean): Scanned {
  const close = sql[at] === '[' ? ']' : sql.charAt(at)
  for (let end = at + 1; end < sql.length; end += 1) {
    if (backslashes && sql[end] === '\\') end += 1
    else if (sql[end] === close && (close === ']' || sql[end + 1] !== close)) return { kind: 'quoted', end: end + 1 }
    else if (sql[end] === close) end += 1
  }
  return { kind: 'unclosed', end: sql.length }
}

/** SQLite reads `$a$b`, `$a(b)` and `$a::b` as single names, which are never bound. */
function scanDollar(sql: string, at: number, lexis: SqlLexis): Scanned {
  const opened = lexis.dollarQuotes ? matchEnd(DOLLAR_TAG, sql, at) : undefined
  if (opened !== undefined) {
    const closed = sql.indexOf(sql.slice(at, opened), opened)
    return closed < 0 ? { kind: 'unclosed', end: sql.length } : { kind: 'quoted', end: closed + opened - at }
  }
  const end = matchEnd(DOLLAR_WORD, sql, at) ?? at + 1
  const glue = lexis.casts ? ['('] : ['(', '::']
  const glued = glue.find((text) => sql.startsWith(text, end))
  if (glued !== undefined) return { kind: 'unbindable', end: end + glued.length }
  return { kind: PLACEHOLDER.test(sql.slice(at, end)) ? 'placeholder' : 'unbindable', end }
}

function matchEnd(pattern: RegExp, sql: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(sql) ? pattern.lastIndex : undefined
}

function upper(token: Token | undefined): string {
  return token === undefined || token.kind === 'quoted' ? '' : token.text.toUpperCase()
}

function mistakeAt(sql: string, finding: Finding): QueryMistake {
  const { line, column } = placeAt(sql, finding.start)
  return { problem: finding.problem, detail: finding.say(`${line}:${column}`), line, column }
}

function placeAt(sql: string, offset: number): { line: number; column: number } {
  const before = sql.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
