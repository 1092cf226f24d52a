// The reference implementation, warm: loads a drawing, then handles requests with a line protocol.
//
//     node --expose-gc peers.mjs DRAWING
//
// Times are the CPU of the whole process, garbage collector and compiler threads included.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

import { compile, parse } from './.peers/npm/node_modules/@jsonquerylang/jsonquery/lib/jsonquery.js'

const bytes = readFileSync(process.argv[2])
const plans = new Map()
let drawing

function seconds(work, times) {
  const start = process.cpuUsage()
  for (let i = 0; i < times; i++) work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

function heap() {
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

function load({ times = 1 }) {
  drawing = undefined
  const before = heap()
  const time = seconds(() => (drawing = JSON.parse(bytes.toString())), times)
  return { seconds: time, bytes: heap() - before }
}

function plan(query) {
  if (!plans.has(query)) plans.set(query, compile(parse(query)))
  return plans.get(query)
}

function run({ query, json, times }) {
  const evaluate = plan(query)
  const work = json ? () => JSON.stringify(evaluate(drawing)) : () => evaluate(drawing)
  return { seconds: seconds(work, times) }
}

const requests = {
  load,
  run,
  compile: ({ query, times }) => ({ seconds: seconds(() => compile(parse(query)), times) }),
  count: ({ query }) => ({ answer: plan(query)(drawing).length }),
  answer: ({ query }) => ({ answer: plan(query)(drawing) ?? null })
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  let reply
  try {
    reply = requests[request.do](request)
  } catch (error) {
    reply = { error: String(error) }
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`)
}
