/** Keys for requests that may have to be sent again. */

/** 128 random bits; `crypto.randomUUID` is missing on pages that came over plain HTTP. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
