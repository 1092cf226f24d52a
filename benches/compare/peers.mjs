// Warm worker with the reference implementation: loads a drawing, then handles requests with a line protocol.
//
//     node --expose-gc peers.mjs DRAWING
//
// Times are CPU times of the process, including its garbage collector and compiler threads.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

import { compile, parse } from './.peers/npm/node_modules/@jsonquerylang/jsonquery/lib/jsonquery.js'

const bytes = readFileSync(process.argv[2])
const plans = new Map()
let drawing

function cpuSeconds(work, times) {
  const start = process.cpuUsage()
  for (let i = 0; i < times; i++) work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

function heapBytes() {
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

function load({ times = 1 }) {
  drawing = undefined
  const before = heapBytes()
  const time = cpuSeconds(() => (drawing = JSON.parse(bytes.toString())), times)
  return { seconds: time, bytes: heapBytes() - before }
}

function plan(query) {
  if (!plans.has(query)) plans.set(query, compile(parse(query)))
  return plans.get(query)
}

function run({ query, json, times }) {
  const evaluate = plan(query)
  const work = json ? () => JSON.stringify(evaluate(drawing)) : () => evaluate(drawing)
  return { seconds: cpuSeconds(work, times) }
}

const actions = {
  load,
  run,
  compile: ({ query, times }) => ({ seconds: cpuSeconds(() => compile(parse(query)), times) }),
  count: ({ query }) => ({ result: plan(query)(drawing).length }),
  result: ({ query }) => ({ result: plan(query)(drawing) ?? null })
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  let reply
  try {
    reply = actions[request.action](request)
  } catch (error) {
    reply = { error: String(error) }
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`)
}
