/** The place of a text by an embedding model, in the form that stores compare. */

/** A vector of unit length in whole numbers: each value times 127. A vector of zeros stays one. */
export function quantized(numbers: readonly number[]): Int8Array {
  let square = 0
  for (const value of numbers) square += value * value
  const scale = square > 0 ? 127 / Math.sqrt(square) : 0
  return Int8Array.from(numbers, (value) => Math.round(value * scale))
}
