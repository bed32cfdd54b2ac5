import { describe, expect, test } from 'vitest'
import { methods } from '../../lib/methods.ts'
import { builtInTracers, findCustomTracer, acceptsTracer } from './findCustomTracer.ts'

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
    // Options of other tracers do not name tracers.
    [['0x01', { tracer: 'callTracer', tracerConfig: { [program]: true } }]],
  ])('returns undefined for %j', (params) => {
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
    // Any text that is not exactly a built-in name is a program.
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
  ])('finds a custom tracer in %j', (params, tracer) => {
    expect(findCustomTracer(params)).toBe(tracer)
  })

  test('accepts any depth', () => {
    const deep = (open: string, inner: string, close: string): unknown =>
      JSON.parse(open.repeat(5_000) + inner + close.repeat(5_000))
    expect(findCustomTracer(deep('[', `{"tracer":${JSON.stringify(program)}}`, ']'))).toBe(program)
    const mux = deep('{"muxTracer":', `{${JSON.stringify(program)}:{}}`, '}')
    expect(findCustomTracer([{ tracer: 'muxTracer', tracerConfig: mux }])).toBe(program)
  })

  test('every method of debug_ and trace_ accepts a tracer', () => {
    const names = [...methods.keys()].filter((name) => /^(?:debug|trace)_/.test(name))
    expect(names.length).toBeGreaterThan(20)
    expect(names.filter((name) => !acceptsTracer(methods.get(name)))).toEqual([])
    expect(
      acceptsTracer(methods.get('debug_traceTransaction')) && acceptsTracer(methods.get('debug_intermediateRoots')),
    ).toBe(true)
    expect(acceptsTracer(methods.get('eth_call'))).toBe(false)
  })
})
