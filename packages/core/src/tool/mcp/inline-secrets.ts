/** Secrets that a configuration of an MCP server holds as text. Nothing here shows one. */

/** The values of a server's configuration that may hold one, as they are written. */
interface Written {
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly args?: readonly string[] | undefined
}

/** Words of a name whose value is a secret, and words whose value may be one. */
const secretWords: ReadonlySet<string> = new Set([
  ...['apikey', 'credential', 'credentials', 'passphrase', 'passwd', 'password', 'pwd', 'secret', 'token'],
])
const doubtfulWords: ReadonlySet<string> = new Set([
  'auth',
  'authorization',
  'bearer',
  'cookie',
  'key',
  'pat',
  'private',
])

/** Values that well-known services give out. */
const knownForm =
  /^(?:(?:bearer|basic|token)\s+\S{8}|sk-[\w-]{8}|gh[oprsu]_\w{8}|github_pat_|glpat-|xox[abeprs]-|AKIA[A-Z0-9]{8}|AIza[\w-]{8}|eyJ[\w-]{8}|npm_\w{8}|hf_\w{8}|-----BEGIN )/i

/** Where a configuration seems to hold a secret as text, such as `env.TOKEN`. A value with `${NAME}` in it is none. */
export function inlineSecretsOf({ env = {}, headers = {}, args = [] }: Written): readonly string[] {
  const found: string[] = []
  for (const [group, values] of Object.entries({ env, headers }))
    for (const [name, value] of Object.entries(values)) if (isSecret(name, value)) found.push(`${group}.${name}`)
  for (const [at, value] of args.entries()) if (isSecretArgument(value, args[at - 1])) found.push(`args.${at}`)
  return found
}

function isSecret(name: string, value: string): boolean {
  if (value.includes('${') || isPlain(value)) return false
  if (knownForm.test(value)) return true
  const words = name
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  if (words.some((word) => secretWords.has(word))) return value.length >= 6
  return words.some((word) => doubtfulWords.has(word)) && isRandom(value)
}

/** `--token=…`, or what follows `--token`. */
function isSecretArgument(value: string, before = ''): boolean {
  const [, name, given] = /^--?([\w-]{1,100})=(.*)$/s.exec(value) ?? []
  if (name !== undefined && given !== undefined) return isSecret(name, given)
  const flag = /^--?([\w-]{1,100})$/.exec(before)?.[1]
  return value.startsWith('-') ? false : isSecret(flag ?? '', value)
}

/** A path, a number, a word such as `true`, or an address without anything secret in it. */
function isPlain(value: string): boolean {
  return (
    value === '' || /^(?:[.~]{0,2}\/|[A-Za-z]:\\|https?:\/\/[^@?]*$|\d{1,5}$|(?:true|false|none|null)$)/i.test(value)
  )
}

/** Long, or of letters and digits, and without blanks. */
function isRandom(value: string): boolean {
  if (/\s/.test(value)) return false
  return value.length >= 20 || (value.length >= 8 && /\d/.test(value) && /[A-Za-z]/.test(value))
}
