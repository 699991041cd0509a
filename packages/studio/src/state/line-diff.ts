/** The difference of two texts, line by line. */

/** A line, and whether it stands in both texts, in the earlier one alone, or in the later one alone. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Beyond so many pairs of lines the middle of two texts counts as replaced, which is right and longer than it need be. */
const mostPairs = 4_000_000

/** What to remove from `before` and to add for `after`, in the order of the later text. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  const [left, right] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  return [...old.slice(0, start).map(same), ...middle(left, right), ...old.slice(old.length - end).map(same)]
}

function middle(left: readonly string[], right: readonly string[]): DiffLine[] {
  const removed = left.map((text): DiffLine => ({ kind: 'removed', text }))
  const added = right.map((text): DiffLine => ({ kind: 'added', text }))
  if (left.length * right.length > mostPairs || left.length === 0 || right.length === 0) return [...removed, ...added]
  const width = right.length + 1
  // The length of the longest common part of what follows each pair.
  const common = new Uint32Array((left.length + 1) * width)
  const at = (row: number, column: number) => common[row * width + column] ?? 0
  for (let row = left.length - 1; row >= 0; row -= 1)
    for (let column = right.length - 1; column >= 0; column -= 1)
      common[row * width + column] =
        left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
  const lines: DiffLine[] = []
  let [row, column] = [0, 0]
  while (row < left.length && column < right.length) {
    if (left[row] === right[column]) {
      lines.push({ kind: 'same', text: left[row] ?? '' })
      row += 1
      column += 1
    } else if (at(row + 1, column) >= at(row, column + 1)) lines.push(...removed.slice(row, ++row))
    else lines.push(...added.slice(column, ++column))
  }
  return [...lines, ...removed.slice(row), ...added.slice(column)]
}
