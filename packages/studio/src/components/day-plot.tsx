/** Bars by day, drawn as SVG, with the same figures as a table for those who do not see them. */
import { scaleEnd } from '../state/health.ts'

/** One bar. Its parts stand on each other; `null` is not known. */
interface Bar {
  readonly day: string
  readonly parts: readonly (number | null)[]
  /** What the bar says to a pointer. */
  readonly says: string
}

interface PlotProps {
  readonly title: string
  readonly bars: readonly Bar[]
  /** What the parts are. */
  readonly names: readonly string[]
  readonly format: (value: number) => string
  readonly testId: string
}

const height = 100
const looks = ['fill-line-strong', 'fill-accent']
const keys = ['bg-line-strong', 'bg-accent']

/** The bars reach from the day before the first one to today; the scale ends at a round number. */
export function DayPlot({ title, bars, names, format, testId }: PlotProps) {
  const end = scaleEnd(Math.max(...bars.map(heightOf)))
  return (
    <figure className="rounded-md border border-line bg-panel p-4" data-testid={testId}>
      <figcaption className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <span className="font-semibold">{title}</span>
        {names.length > 1 && (
          <span className="flex gap-3 text-xs text-muted">
            {names.map((name, index) => (
              <span key={name} className="flex items-center gap-1.5">
                <span aria-hidden="true" className={`size-2.5 rounded-xs ${lookOf(keys, index, names)}`} />
                {name}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <div className="mt-3 flex gap-2">
        <div
          aria-hidden="true"
          className="flex w-20 shrink-0 flex-col justify-between text-right text-xs leading-none text-muted tabular-nums"
        >
          <span>{format(end)}</span>
          <span>{format(end / 2)}</span>
          <span>{format(0)}</span>
        </div>
        <svg
          role="img"
          aria-label={title}
          viewBox={`0 0 ${bars.length} ${height}`}
          preserveAspectRatio="none"
          className="h-36 min-w-0 flex-1"
        >
          {[0, height / 2, height].map((y) => (
            <line
              key={y}
              x1="0"
              x2={bars.length}
              y1={y}
              y2={y}
              className="stroke-line"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {bars.map((bar, index) => (
            <Column key={bar.day} bar={bar} at={index} end={end} names={names} />
          ))}
        </svg>
      </div>
      <div aria-hidden="true" className="mt-1.5 ml-22 flex justify-between text-xs text-muted tabular-nums">
        <span>{bars[0]?.day}</span>
        <span>{bars.at(-1)?.day}</span>
      </div>
      <Figures title={title} bars={bars} names={names} format={format} />
    </figure>
  )
}

function heightOf({ parts }: Bar): number {
  return parts.reduce<number>((sum, part) => sum + (part ?? 0), 0)
}

/** A single part has the colour of the last one. */
function lookOf(all: readonly string[], index: number, names: readonly string[]): string {
  return all[index + all.length - names.length] ?? ''
}

interface ColumnProps {
  readonly bar: Bar
  readonly at: number
  readonly end: number
  readonly names: readonly string[]
}

function Column({ bar, at, end, names }: ColumnProps) {
  let below = 0
  const isUnknown = bar.parts.includes(null)
  return (
    <g>
      {bar.parts.map((part, index) => {
        const tall = ((part ?? 0) / end) * height
        below += tall
        return (
          <rect
            key={names[index]}
            x={at + 0.14}
            width={0.72}
            y={height - below}
            height={tall}
            className={lookOf(looks, index, names)}
          />
        )
      })}
      {isUnknown && <rect x={at + 0.14} width={0.72} y={height - 5} height={5} className="fill-wait-line" />}
      <rect x={at} width={1} y={0} height={height} className="fill-transparent hover:fill-accent/10">
        <title>{bar.says}</title>
      </rect>
    </g>
  )
}

function Figures({ title, bars, names, format }: Pick<PlotProps, 'title' | 'bars' | 'names' | 'format'>) {
  return (
    <table className="sr-only">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th>Day</th>
          {names.map((name) => (
            <th key={name}>{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {bars.map(({ day, parts }) => (
          <tr key={day}>
            <th>{day}</th>
            {parts.map((part, index) => (
              <td key={names[index]}>{part === null ? 'not known' : format(part)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
