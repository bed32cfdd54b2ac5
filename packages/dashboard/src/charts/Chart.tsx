import { useEffect, useId, useRef, useState } from 'react'
import type { PointerEvent, ReactNode } from 'react'
import { useHover } from './linkedHover.ts'
import { roundTop } from './scale.ts'
import { toTicks } from './ticks.ts'
import { TableHead } from '../parts/TableHead.tsx'

/** One moment of a chart. */
export interface Moment {
  /** In milliseconds since 1970. */
  readonly at: number
  /** Its full name, for where it is shown without the axis. */
  readonly title: string
  /** In the order of the chart's rows; `null` where there is nothing to show. */
  readonly values: readonly (number | null)[]
}

/** One of the things that a chart shows. */
export interface ChartRow {
  readonly title: string
  /** Areas are stacked bars; lines are drawn over them. */
  readonly look:
    | 'area-good'
    | 'area-neutral'
    | 'area-bad'
    | 'line-one'
    | 'line-two'
    | 'line-past'
    | 'line-past-one'
    | 'line-past-two'
}

const isLine = (look: ChartRow['look']): boolean => look.startsWith('line')

const height = 220
const left = 58
const bottom = 26
const top = 10
// Half of a tick's text, so that the last one is not cut off.
const right = 30
/** The width of a tick's text, in pixels. */
const tickWidth = 70

/**
 * A chart over time: stacked bars, lines, or both. Screen readers get its sentence and the table below it.
 */
export function Chart(props: {
  readonly rows: readonly ChartRow[]
  readonly moments: readonly Moment[]
  /** A number with its unit, short, for the axis. */
  readonly text: (value: number) => string
  /** A number with its unit, exact. */
  readonly exact: (value: number) => string
  /** The time zone of the ticks. @default the reader's */
  readonly timeZone?: 'UTC' | undefined
  /** What it shows, in a sentence or two. */
  readonly summary: string
  /** Called when the user has dragged over some moments, with the times of the first and the last one. */
  readonly onZoom?: ((from: number, to: number) => void) | undefined
  readonly caption: string
  readonly aside?: ReactNode
}) {
  const { rows, moments, text, exact, timeZone } = props
  const [at, setAt] = useHover()
  const [draggedFrom, setDraggedFrom] = useState<number>()
  // Drawn as wide as it is shown, so that its text has the size of all other text.
  const [width, setWidth] = useState(720)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (box.current === null) return undefined
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width))
    })
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  const id = useId()
  const tops = moments.map(({ values }) => {
    let sum = 0
    let highest = 0
    for (const [row, { look }] of rows.entries()) {
      const value = values[row] ?? 0
      if (isLine(look)) highest = Math.max(highest, value)
      else sum += value
    }
    return Math.max(sum, highest)
  })
  const most = roundTop(Math.max(...tops, 0))
  const plotWidth = width - left - right
  const plotHeight = height - top - bottom
  const slot = plotWidth / Math.max(1, moments.length)
  const x = (index: number): number => left + slot * (index + 0.5)
  const y = (value: number): number => top + plotHeight * (1 - value / most)

  const getIndex = (event: PointerEvent<SVGSVGElement>): number | undefined => {
    const index = Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - left) / slot)
    return index >= 0 && index < moments.length ? index : undefined
  }
  const endDrag = (event: PointerEvent<SVGSVGElement>): void => {
    setDraggedFrom(undefined)
    const end = getIndex(event) ?? at
    if (draggedFrom === undefined || end === undefined || end === draggedFrom) return
    const [first, last] = [moments[Math.min(draggedFrom, end)], moments[Math.max(draggedFrom, end)]]
    if (first && last) props.onZoom?.(first.at, last.at)
  }
  const dragged =
    draggedFrom === undefined || at === undefined || at === draggedFrom
      ? undefined
      : { first: Math.min(draggedFrom, at), count: Math.abs(draggedFrom - at) + 1 }
  const ticks = toTicks(
    moments.map((moment) => moment.at),
    { most: Math.max(2, Math.floor(plotWidth / tickWidth)), timeZone },
  )
  const exactText = (value: number | null): string => (value === null ? '–' : exact(value))
  const pointed = at === undefined ? undefined : moments[at]

  return (
    <figure className="stack tight">
      <div className="row spread">
        <div className="legend" aria-hidden="true">
          {rows.map(({ title, look }, row) => (
            <span key={title}>
              <svg className="chart swatch" viewBox="0 0 12 12">
                {isLine(look) ? (
                  <path d="M0 6h12" className={look} />
                ) : (
                  <rect width="12" height="12" rx="3" className={look} />
                )}
              </svg>
              {title}
              {pointed && `: ${exactText(pointed.values[row] ?? null)}`}
            </span>
          ))}
          {pointed && <span>{pointed.title}</span>}
        </div>
        {props.aside}
      </div>
      <div ref={box}>
        <svg
          className={props.onZoom ? 'chart zoomable' : 'chart'}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-labelledby={id}
          onPointerMove={(event) => setAt(getIndex(event))}
          onPointerDown={(event) => {
            // Fingers scroll the page.
            if (props.onZoom && event.pointerType === 'mouse' && event.button === 0) setDraggedFrom(getIndex(event))
          }}
          onPointerUp={endDrag}
          onPointerLeave={() => {
            setAt(undefined)
            setDraggedFrom(undefined)
          }}
        >
          <title id={id}>{props.summary}</title>
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <g key={part}>
              <line x1={left} x2={width - right} y1={y(part * most)} y2={y(part * most)} className="gridline" />
              <text x={left - 8} y={y(part * most) + 4} textAnchor="end">
                {text(part * most)}
              </text>
            </g>
          ))}
          {ticks.map(({ index, text: mark }) => (
            <text key={index} className="tick" x={x(index)} y={height - 6} textAnchor="middle">
              {mark}
            </text>
          ))}
          {moments.map(({ values }, index) => {
            let below = 0
            return rows.map(({ look }, row) => {
              const value = isLine(look) ? 0 : (values[row] ?? 0)
              const base = below
              below += value
              return value === 0 ? null : (
                <rect
                  key={`${index}-${look}`}
                  x={x(index) - Math.max(1, slot * 0.36)}
                  width={Math.max(2, slot * 0.72)}
                  y={y(base + value)}
                  height={Math.max(1, y(base) - y(base + value))}
                  className={look}
                />
              )
            })
          })}
          {rows.map(
            ({ look }, row) =>
              isLine(look) && (
                <g key={look}>
                  <path className={look} d={toPath(moments, row, x, y)} />
                  {lonely(moments, row).map(([index, value]) => (
                    <circle key={index} cx={x(index)} cy={y(value)} r="3" className={look.replace('line', 'dot')} />
                  ))}
                </g>
              ),
          )}
          {dragged && (
            <rect
              className="dragged"
              x={left + dragged.first * slot}
              width={dragged.count * slot}
              y={top}
              height={plotHeight}
            />
          )}
          {at !== undefined && <line x1={x(at)} x2={x(at)} y1={top} y2={height - bottom} className="cursor" />}
        </svg>
      </div>
      <details>
        <summary>{props.caption} as a table</summary>
        {/* A table that scrolls must be reachable by the keyboard. */}
        <div className="scroll" tabIndex={0} role="region" aria-label={`Table: ${props.caption}`}>
          <table className="table">
            <TableHead titles={['Time', ...rows.map(({ title }) => ({ title, isNumber: true }))]} />
            <tbody>
              {moments.map((moment) => (
                <tr key={moment.title}>
                  <th scope="row">{moment.title}</th>
                  {rows.map(({ title }, row) => {
                    return (
                      <td className="number" key={title}>
                        {exactText(moment.values[row] ?? null)}
                      </td>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}

const valueAt = (moments: readonly Moment[], row: number, index: number): number | null =>
  moments[index]?.values[row] ?? null

/** A line that is broken where there is nothing to show. */
function toPath(
  moments: readonly Moment[],
  row: number,
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  return moments
    .map((_, index) => {
      const value = valueAt(moments, row, index)
      if (value === null) return ''
      return `${valueAt(moments, row, index - 1) === null ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`
    })
    .join('')
}

/** Single values, between which no line can be drawn. */
function lonely(moments: readonly Moment[], row: number): (readonly [index: number, value: number])[] {
  return moments.flatMap((_, index) => {
    const value = valueAt(moments, row, index)
    const isAlone = valueAt(moments, row, index - 1) === null && valueAt(moments, row, index + 1) === null
    return value === null || !isAlone ? [] : [[index, value] as const]
  })
}
