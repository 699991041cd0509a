/** Base64 of bytes, strictly: one text for each content. */

/** The text, with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** The bytes; null if `encodeBase64` would not write them so. */
export function decodeBase64(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) return null
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
