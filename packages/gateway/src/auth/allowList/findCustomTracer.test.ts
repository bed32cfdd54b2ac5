import { describe, expect, test } from 'vitest'
import { debugMethods, traceMethods } from './methodNames.ts'
import { builtInTracers, findCustomTracer, mayTakeTracer } from './findCustomTracer.ts'

const program = '{step: function(log, db) {}, fault: function() {}, result: function() { return 1 }}'

describe('findCustomTracer', () => {
  test.each<[unknown]>([
    [undefined],
    [null],
    [[]],
    [['0x01']],
    [['0x01', null]],
    [['0x01', {}]],
    [['0x01', { tracer: null, tracerConfig: null }]],
    [['0x01', { tracer: '' }]],
    ...[...builtInTracers].map((tracer): [unknown] => [['0x01', { tracer }]]),
    [
      [
        '0x01',
        { tracer: 'muxTracer', tracerConfig: { callTracer: { withLog: true }, muxTracer: { '4byteTracer': null } } },
      ],
    ],
    // The options of another tracer are its own matter.
    [['0x01', { tracer: 'callTracer', tracerConfig: { [program]: true } }]],
  ])('finds none in %j', (params) => {
    expect(findCustomTracer(params)).toBeUndefined()
  })

  test.each<[unknown, string]>([
    [[0, { tracer: program }], program],
    [[0, { Tracer: program }], program],
    [[0, { TRACER: program }], program],
    [[{}, 'latest', { tracer: program }], program],
    [[0, 0, 0, { tracer: program }], program],
    [{ config: { tracer: program } }, program],
    [[[[{}, { tracer: program }]]], program],
    // Text that is not exactly a name is a program.
    [[0, { tracer: 'callTracer ' }], 'callTracer '],
    [[0, { tracer: 'CallTracer' }], 'CallTracer'],
    [[0, { tracer: 'x' }], 'x'],
    [[0, { tracer: '../tracers/mine.js' }], '../tracers/mine.js'],
    [[0, { tracer: ['callTracer'] }], '["callTracer"]'],
    [[0, { tracer: {} }], '{}'],
    [[0, { tracer: 1 }], '1'],
    [[0, { tracer: 'muxTracer', tracerConfig: { [program]: null } }], program],
    [[0, { tracer: 'muxTracer', TracerConfig: { [program]: null } }], program],
    [
      [0, { tracerConfig: { callTracer: {}, muxTracer: { muxTracer: { [program]: {} } } }, tracer: 'muxTracer' }],
      program,
    ],
    [[0, { tracer: 'muxTracer', tracerConfig: [program] }], '0'],
    [[0, { tracer: 'muxTracer', tracerConfig: program }], program],
  ])('finds one in %j', (params, tracer) => {
    expect(findCustomTracer(params)).toBe(tracer)
  })

  test('needs no stack for depth', () => {
    const deep = (open: string, inner: string, close: string): unknown =>
      JSON.parse(open.repeat(5_000) + inner + close.repeat(5_000))
    expect(findCustomTracer(deep('[', `{"tracer":${JSON.stringify(program)}}`, ']'))).toBe(program)
    const mux = deep('{"muxTracer":', `{${JSON.stringify(program)}:{}}`, '}')
    expect(findCustomTracer([{ tracer: 'muxTracer', tracerConfig: mux }])).toBe(program)
  })

  test('is asked for every method of debug_ and trace_', () => {
    expect([...debugMethods, ...traceMethods].filter((name) => !mayTakeTracer(name))).toEqual([])
    expect(mayTakeTracer('debug_traceTransaction') && mayTakeTracer('debug_intermediateRoots')).toBe(true)
    expect(mayTakeTracer('eth_call')).toBe(false)
  })
})
