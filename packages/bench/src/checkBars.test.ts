import { describe, expect, test } from 'vitest'
import { checkBars } from './checkBars.ts'
import type { Measured } from './measure.ts'
import type { FigureRow } from './figureRow.ts'
import type { Bar } from './rows.ts'
import type { Cost } from './subjectProcess.ts'

const cost = (wallMs: number, cpuMs: number, heapMb?: number): Cost => ({
  wallMs,
  cpuMs,
  peakRssMb: 100,
  ...(heapMb && { heapMb }),
})

const measured = (bar: Bar, costs: Record<string, readonly Cost[]>): Measured => ({
  row: { name: 'row', title: '', reference: 'floor', again: 'floor again', subjects: ['it'], peers: [], bars: [bar] },
  costs: new Map(Object.entries(costs)),
  problems: new Map(),
  load: [0, 0],
})

const floor = [cost(10, 10), cost(20, 20), cost(10, 10)]

describe('checkBars', () => {
  test('checks a bar for wall and CPU time separately, round by round', () => {
    const findings = checkBars(
      measured(
        { subject: 'it', wall: 1.1, cpu: 1.1 },
        { floor, 'floor again': floor, it: [cost(11, 12), cost(21, 24), cost(10, 13)] },
      ),
    )
    expect(findings.map(({ what, value, outcome }) => [what, value?.toFixed(2), outcome])).toEqual([
      ['wall', '1.05', 'met'],
      ['CPU', '1.20', 'missed'],
    ])
  })

  test('does not count a figure if the control of the reference was off', () => {
    const restless = floor.map(({ wallMs, cpuMs }) => cost(wallMs * 1.06, cpuMs))
    const findings = checkBars(
      measured({ subject: 'it', wall: 1.1, cpu: 1.1 }, { floor, 'floor again': restless, it: floor }),
    )
    expect(findings.map(({ outcome }) => outcome)).toEqual(['does not count', 'met'])
  })

  test('never reports a subject that did not run as met', () => {
    const findings = checkBars(measured({ subject: 'it', wall: 1.1, heapMb: 200 }, { floor, 'floor again': floor }))
    expect(findings.map(({ outcome }) => outcome)).toEqual(['not measured', 'not measured'])
  })

  test('compares a subject with another one of its row, and still checks the control of the reference', () => {
    const other = floor.map(({ wallMs, cpuMs }) => cost(wallMs * 4, cpuMs * 2))
    const findings = checkBars(
      measured(
        { subject: 'it', beside: 'other', wall: 0.3, cpu: 0.3 },
        { floor, 'floor again': floor, it: floor, other },
      ),
    )
    expect(findings.map(({ beside, value, outcome }) => [beside, value, outcome])).toEqual([
      ['other', 0.25, 'met'],
      ['other', 0.5, 'missed'],
    ])
  })

  test('compares the heap by its median, in MB', () => {
    const it = [cost(5, 5, 150), cost(5, 5, 210), cost(5, 5, 190)]
    const findings = checkBars(measured({ subject: 'it', wall: 0.8, heapMb: 200 }, { floor, 'floor again': floor, it }))
    expect(findings.at(-1)).toMatchObject({ what: 'live heap', value: 190, outcome: 'met' })
  })

  test('compares the median of a figure with its bar, and skips a figure without one', () => {
    const figures: FigureRow['figures'] = [
      { key: 'quick', title: 'quick', unit: 'ms', most: 50 },
      { key: 'slow', title: 'slow', unit: 'ms', most: 50 },
      { key: 'large', title: 'large', unit: 'MB', most: 300 },
      { key: 'missing', title: 'missing', unit: 'ms', most: 50 },
      { key: 'free', title: 'free', unit: 'MB' },
    ]
    const findings = checkBars({
      row: { name: 'row', title: '', program: '', figures, note: '' },
      figures: new Map(Object.entries({ quick: [49, 80, 2], slow: [51, 90, 3], large: [299], free: [1_000] })),
      problems: new Map(),
      load: [0, 0],
    })
    expect(findings.map(({ subject, what, value, outcome }) => [subject, what, value, outcome])).toEqual([
      ['quick', 'time', 49, 'met'],
      ['slow', 'time', 51, 'missed'],
      ['large', 'memory', 299, 'met'],
      ['missing', 'time', undefined, 'not measured'],
    ])
  })

  test('does not count a ratio whose control was off or missing', () => {
    const figures: FigureRow['figures'] = [
      { key: 'sound', title: 'sound', unit: '×', most: 1.3, control: 'calm' },
      { key: 'unsound', title: 'unsound', unit: '×', most: 1.3, control: 'restless' },
      { key: 'blind', title: 'blind', unit: '×', most: 1.3, control: 'missing' },
    ]
    const findings = checkBars({
      row: { name: 'row', title: '', program: '', figures, note: '' },
      figures: new Map(Object.entries({ sound: [1.2], unsound: [1.2], blind: [1.2], calm: [0.96], restless: [1.06] })),
      problems: new Map(),
      load: [0, 0],
    })
    expect(findings.map(({ what, itself, outcome }) => [what, itself, outcome])).toEqual([
      ['ratio', 0.96, 'met'],
      ['ratio', 1.06, 'does not count'],
      ['ratio', undefined, 'does not count'],
    ])
  })
})
