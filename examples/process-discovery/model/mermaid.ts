/** A process model as a Mermaid flowchart, a lane as a box. */
import type { ProcessModel } from './process-model.ts'

/** The source of the flowchart. */
export function mermaidOf({ lanes, events, activities, gateways, flows }: ProcessModel): string {
  const boxes = lanes.flatMap((lane, index) => [
    `  subgraph lane${index}[${label(lane)}]`,
    ...activities.filter((one) => one.lane === lane).map(({ id, name }) => `    n_${id}[${label(name)}]`),
    '  end',
  ])
  const others = [
    ...events.map(({ id, name }) => `  n_${id}([${label(name)}])`),
    ...activities
      .filter(({ lane }) => lane === null || !lanes.includes(lane))
      .map(({ id, name }) => `  n_${id}[${label(name)}]`),
    ...gateways.map(({ id, kind }) => `  n_${id}{${label(kind === 'parallel' ? '+' : '×')}}`),
  ]
  const arrows = flows.map(
    ({ from, to, condition }) => `  n_${from} -->${condition === null ? '' : `|${label(condition)}|`} n_${to}`,
  )
  return ['flowchart LR', ...boxes, ...others, ...arrows, ''].join('\n')
}

/** A text in quotes; whatever could end them is written as an entity. */
function label(text: string): string {
  return `"${text.replace(/["#&<>`\n\r]/g, (sign) => `#${sign.charCodeAt(0)};`)}"`
}
