/** The JSON of plain data in short pieces, so that no value is written in one long turn. */
import { jsonLength } from './json-length.ts'
import { isTurnSpent, nextTurn } from './turn.ts'

/** About how many characters a piece has. Writing one takes a fraction of a millisecond. */
const pieceLength = 65_536

/** Pieces that together are what `JSON.stringify` writes. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (jsonLength(value, pieceLength) <= pieceLength) yield JSON.stringify(value) ?? 'null'
  else if (typeof value === 'string') {
    yield '"'
    for (const part of textPieces(value)) yield JSON.stringify(part).slice(1, -1)
    yield '"'
  } else if (Array.isArray(value)) yield* listPieces(value)
  else yield* objectPieces(value as object)
}

/** Short items are written together, since each call of the writer costs as much as a short item. */
function* listPieces(list: readonly unknown[]): Generator<string> {
  yield '['
  for (let from = 0; from < list.length; ) {
    if (from > 0) yield ','
    let to = from
    let length = 0
    while (to < list.length && length <= pieceLength) length += jsonLength(list[to++], pieceLength)
    if (to - from > 1 && length > pieceLength) to -= 1
    if (to - from === 1) yield* jsonPieces(list[from])
    else yield JSON.stringify(list.slice(from, to)).slice(1, -1)
    from = to
  }
  yield ']'
}

/** The same for the fields of an object. */
function* objectPieces(value: object): Generator<string> {
  let short = ''
  let mark = '{'
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined) continue
    short += `${mark}${JSON.stringify(name)}:`
    mark = ','
    if (jsonLength(one, pieceLength) <= pieceLength) short += JSON.stringify(one)
    else {
      yield short
      short = ''
      yield* jsonPieces(one)
    }
    if (short.length <= pieceLength) continue
    yield short
    short = ''
  }
  yield mark === '{' ? '{}' : `${short}}`
}

/** A text in pieces that cut no character. */
export function* textPieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = from + pieceLength
    if (/[\ud800-\udbff]/.test(text.charAt(to - 1))) to += 1
    yield text.slice(from, to)
    from = to
  }
}

/** The JSON of plain data. Gives way to other work between its pieces. */
export async function jsonText(value: unknown): Promise<string> {
  const pieces: string[] = []
  for (const piece of jsonPieces(value)) {
    pieces.push(piece)
    if (isTurnSpent()) await nextTurn()
  }
  return pieces.length === 1 ? (pieces[0] as string) : pieces.join('')
}

/** How many bytes the JSON of plain data has. Gives way to other work between its pieces. */
export async function jsonBytes(value: unknown): Promise<number> {
  let bytes = 0
  for (const piece of jsonPieces(value)) {
    bytes += Buffer.byteLength(piece)
    if (isTurnSpent()) await nextTurn()
  }
  return bytes
}

/** The bytes of a text. Gives way to other work between its pieces. */
export async function textBytes(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Buffer<ArrayBuffer>[] = []
  for (const piece of textPieces(text)) {
    pieces.push(Buffer.from(piece))
    if (isTurnSpent()) await nextTurn()
  }
  return Buffer.concat(pieces)
}

/**
 * The text of bytes in UTF-8, with a mark of their order if they have one. Gives way to other work between its pieces. With `fatal` it rejects what is no
 * UTF-8 with a TypeError.
 */
export async function bytesText(
  bytes: Uint8Array,
  { fatal = false }: { readonly fatal?: boolean } = {},
): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal })
  const pieces: string[] = []
  for (let from = 0; from < bytes.length; from += pieceLength) {
    pieces.push(decoder.decode(bytes.subarray(from, from + pieceLength), { stream: true }))
    if (isTurnSpent()) await nextTurn()
  }
  pieces.push(decoder.decode())
  return pieces.join('')
}
