/** The path of a line between two agents of a drawing. */

/** A point of the drawing. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** From the right side of one agent to the left side of another. `lanes`: the left ends of the free places between, in order. */
interface LineEnds {
  readonly from: Point
  readonly to: Point
  readonly lanes: readonly Point[]
  readonly laneWidth: number
}

/** How far a line swings out where it turns back. */
const swing = 46

/** The path as SVG has it, and the middle of its last bend, where its words stand. */
export function linePath({ from, to, lanes, laneWidth }: LineEnds): { readonly path: string; readonly middle: Point } {
  // Its first place is in the layer of its own agent, left of where it leaves that agent.
  const goesBack = (lanes[0]?.x ?? Number.POSITIVE_INFINITY) < from.x
  const parts = [`M${from.x},${from.y}`]
  let at = from
  for (const lane of lanes) {
    const right = { x: lane.x + laneWidth, y: lane.y }
    const [begin, end] = goesBack ? [right, lane] : [lane, right]
    const isTurn = goesBack && at === from
    parts.push(bend(at, begin, isTurn ? 1 : goesBack ? -1 : 0), `L${end.x},${end.y}`)
    at = end
  }
  parts.push(bend(at, to, goesBack ? -2 : 0))
  return { path: parts.join(' '), middle: { x: goesBack ? at.x - swing : (at.x + to.x) / 2, y: (at.y + to.y) / 2 } }
}

/** From one point to the next: onward (0), turning at the right (1), going back (-1), or turning at the left (-2). */
function bend(from: Point, to: Point, way: 0 | 1 | -1 | -2): string {
  const half = Math.abs(to.x - from.x) / 2
  const [out, back] = { 0: [half, -half], 1: [swing, swing], [-1]: [-half, half], [-2]: [-swing, -swing] }[way] as [
    number,
    number,
  ]
  return `C${from.x + out},${from.y} ${to.x + back},${to.y} ${to.x},${to.y}`
}
