/** Reads the words of a command line against a command. */
import { parseArgs } from 'node:util'
import { nearest } from '@witan/core/tooling'
import type { Command, Given, Option } from './command.ts'
import { UsageError } from './exit.ts'

/** Everything after the command's name. Throws `UsageError` that names what is wrong. */
export function readArguments(command: Command, words: readonly string[]): Given {
  const options = command.options ?? {}
  const hint = `witan ${command.name} --help shows what it takes.`
  const { values, positionals } = parse(words, options, hint)
  const wanted = command.operands ?? []
  const missing = wanted.find((operand, index) => !operand.optional && positionals[index] === undefined)
  if (missing) throw new UsageError(`witan ${command.name} needs ${missing.name}.`, hint)
  const extra = wanted.at(-1)?.many === true ? undefined : positionals[wanted.length]
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many for witan ${command.name}.`, hint)
  return {
    operands: positionals,
    text: (name) => textsOf(values[name]).at(-1),
    texts: (name) => textsOf(values[name]),
    has: (name) => values[name] !== undefined,
  }
}

/** A parameter as `--param name=value` gives it. */
interface ParameterWords {
  readonly name: string
  readonly value: string
}

/** Splits `name=value` at the first `=`. */
export function readParameterWords(words: string): ParameterWords {
  const at = words.indexOf('=')
  if (at < 1) throw new UsageError(`--param "${words}" is not name=value.`, 'Write --param userId=employees/3.')
  return { name: words.slice(0, at), value: words.slice(at + 1) }
}

/** A whole number from 1, or undefined where the option was not given. */
export function readCount(given: Given, name: string, most: number): number | undefined {
  return readInteger(given, name, { least: 1, most, such: Math.min(20, most) })
}

/** The port that `--port` gives; 0 takes a free one. */
export function readPort(given: Given): number | undefined {
  return readInteger(given, 'port', { least: 0, most: 65_535, such: 4848 })
}

interface Range {
  readonly least: number
  readonly most: number
  /** An example of a right value. */
  readonly such: number
}

function readInteger(given: Given, name: string, { least, most, such }: Range): number | undefined {
  const text = given.text(name)
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new UsageError(
    `--${name} "${text}" is not a whole number from ${least} to ${most}.`,
    `Write --${name} ${such}.`,
  )
}

type Values = Readonly<Record<string, unknown>>

function parse(words: readonly string[], options: Readonly<Record<string, Option>>, hint: string) {
  const table = Object.entries(options).map(([name, option]) => [
    name,
    {
      type: option.value === undefined ? ('boolean' as const) : ('string' as const),
      multiple: option.multiple ?? false,
      ...(option.short === undefined ? {} : { short: option.short }),
    },
  ])
  try {
    const parsed = parseArgs({
      args: [...words],
      options: Object.fromEntries(table),
      allowPositionals: true,
      strict: true,
    })
    return { values: parsed.values as Values, positionals: parsed.positionals }
  } catch (error) {
    throw new UsageError(firstSentence(error), `${meantOption(error, options)}${hint}`)
  }
}

/** The option that a misspelt one most likely was. */
function meantOption(error: unknown, options: Readonly<Record<string, Option>>): string {
  const isUnknown = (error as { readonly code?: unknown }).code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION'
  const word = isUnknown ? /'--([^'= ]+)/.exec((error as Error).message)?.[1] : undefined
  const near = word === undefined ? null : nearest(word, Object.keys(options))
  return near === null ? '' : `Did you mean "--${near}"? `
}

/** The first sentence of Node's message, which names the option. The rest explains `--`. */
function firstSentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const sentence = message.split(/\.(?:\s|$)/)[0] ?? message
  return `${sentence.replaceAll("'", '"')}.`
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
