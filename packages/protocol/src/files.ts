/** Files of a prompt: their limits, their names, and how a text mentions one [Rb53]. */

/** The limits of files. `bytes` are decoded bytes; a body with files may be larger, because base64 takes a third more. */
export const fileLimits = {
  /** Of one file: 5 MiB, what the strictest large provider takes of a picture. */
  fileBytes: 5_242_880,
  /** Of all files of one message: 10 MiB. */
  messageBytes: 10_485_760,
  /** How many files one message may have. */
  files: 20,
  /** Of all files of one model call: 30 MiB, the latest ones. A model reads only the mention of older ones. */
  requestBytes: 31_457_280,
} as const

/** `type/subtype` in lower case, without parameters. */
export const mediaTypePattern = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}$/

/** Whether files of this type are read as text, which every model takes. */
export function isTextType(mediaType: string): boolean {
  return /^text\/|^application\/(json|xml|yaml|x-yaml|x-ndjson|toml|sql|javascript)$|\+(json|xml|yaml)$/.test(mediaType)
}

/**
 * Control characters, and invisible ones that make a name look like another: bidi marks, spaces without a width, tags, lone surrogates.
 * Joiners and variation selectors may stand in a name, because scripts and emoji need them.
 */
const hiddenCharacters =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufff8\u{e0000}-\u{e007f}]/u

/** Why a name cannot be the name of a file; null if it can. */
export function fileNameProblem(name: string): string | null {
  if (name === '' || name.length > 200) return 'must have 1 to 200 characters'
  if (/[/\\]/.test(name) || name === '.' || name === '..') return 'must be a name without a path'
  return hiddenCharacters.test(name) ? 'must not have control or invisible characters' : null
}

/** A file of a sent prompt: its bytes as base64, with padding and without a `data:` prefix. */
export interface FilePart {
  readonly type: 'file'
  readonly mediaType: string
  readonly data: string
  readonly name?: string | undefined
}

/** A file as the log and documents refer to it. `digest` is `sha256:` and 64 hexadecimal digits; `name` is null without one. */
export interface FileReference {
  readonly digest: string
  readonly mediaType: string
  readonly bytes: number
  readonly name: string | null
}

/** A digest of content. */
export const digestPattern = /^sha256:[0-9a-f]{64}$/

/** How a file is named in text, for readers that do not get its content: `[file "chart.png", image/png, 12.1 kB]`. */
export function fileMention({ name, mediaType: type, bytes }: FileReference): string {
  return `[file ${name === null ? '' : `${JSON.stringify(name)}, `}${type}, ${sizeText(bytes)}]`
}

/** A number of bytes in words: `12 bytes`, `12.1 kB`, `3.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  const [size, unit] = bytes < 999_950 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB']
  return `${size.toFixed(1)} ${unit}`
}
