//! The same graphs in other libraries: the crates `incremental`, a port of Jane Street's Incremental, and `salsa`.

use std::hint::black_box;
use std::sync::Arc;

use incremental::{Incr, IncrState, Observer, Var};
use salsa::Setter;

use crate::shapes::{Op, Shape, Tables};

/// A graph of `incremental`.
pub struct Incremental {
    state: IncrState,
    heads: Vec<Var<u64>>,
    sinks: Vec<Observer<u64>>,
}

impl Incremental {
    pub fn new(shape: &Shape) -> Self {
        let state = IncrState::new_with_height(shape.nodes.len() + 2);
        let heads: Vec<Var<u64>> = (0..shape.heads).map(|_| state.var(0)).collect();
        let mut nodes: Vec<Incr<u64>> = heads.iter().map(Var::watch).collect();
        let tables = Arc::new(Tables::new());
        for (op, inputs) in &shape.nodes {
            let (op, tables) = (*op, tables.clone());
            let all = || inputs.iter().map(|&input| nodes[input as usize].clone()).collect();
            let node = match (op, &inputs[..]) {
                (Op::Collect, _) => {
                    let fold = |mut all: Vec<u64>, &input: &u64| {
                        all.push(input);
                        all
                    };
                    let read = state.fold(all(), Vec::new(), fold);
                    read.map(move |all| op.apply(&tables, all.iter().copied()))
                }
                (_, &[one]) => nodes[one as usize].map(move |&one| op.apply(&tables, [one].into_iter())),
                (_, &[one, two]) => nodes[one as usize]
                    .map2(&nodes[two as usize], move |&one, &two| op.apply(&tables, [one, two].into_iter())),
                (Op::Sum, _) => state.fold(all(), 0, |sum: u64, &input: &u64| sum.wrapping_add(input)),
                _ => unreachable!("other functions have at most two inputs"),
            };
            nodes.push(node);
        }
        let sinks = shape.sinks().into_iter().map(|sink| nodes[sink as usize].observe()).collect();
        state.stabilise();
        Self { state, heads, sinks }
    }

    /// Sets one head and brings all sinks up to date.
    pub fn frame(&self, number: u64) {
        self.heads[number as usize % self.heads.len()].set(number);
        self.state.stabilise();
    }

    /// A frame without a change.
    pub fn stabilise(&self) {
        self.state.stabilise();
    }

    /// The values of the sinks.
    pub fn values(&self) -> Vec<u64> {
        self.sinks.iter().map(Observer::value).collect()
    }
}

#[salsa::input]
struct Cell {
    #[returns(copy)]
    at: u32,
    #[returns(copy)]
    number: u64,
}

#[salsa::db]
trait Net: salsa::Database {
    fn shape(&self) -> &Shape;
    fn cell(&self, at: u32) -> Cell;
    fn tables(&self) -> &Tables;
}

#[salsa::db]
#[derive(Clone)]
struct Database {
    storage: salsa::Storage<Self>,
    shape: Arc<Shape>,
    cells: Arc<Vec<Cell>>,
    tables: Arc<Tables>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Net for Database {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn cell(&self, at: u32) -> Cell {
        self.cells[at as usize]
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }
}

#[salsa::tracked(returns(copy))]
fn value(db: &dyn Net, cell: Cell) -> u64 {
    let shape = db.shape();
    // The graph never changes here. So `at` has the highest durability, and what it costs is one comparison.
    let at = cell.at(db);
    match at.checked_sub(shape.heads) {
        None => cell.number(db),
        Some(node) => {
            let (op, inputs) = &shape.nodes[node as usize];
            op.apply(db.tables(), inputs.iter().map(|&input| value(db, db.cell(input))))
        }
    }
}

/// A graph of `salsa`: one tracked function of the number of a node.
pub struct Salsa {
    database: Database,
    heads: usize,
    sinks: Vec<Cell>,
}

impl Salsa {
    pub fn new(shape: Shape) -> Self {
        let (heads, sinks) = (shape.heads as usize, shape.sinks());
        let count = heads + shape.nodes.len();
        let mut database = Database {
            storage: salsa::Storage::default(),
            shape: Arc::new(shape),
            cells: Arc::default(),
            tables: Arc::new(Tables::new()),
        };
        let cells: Vec<Cell> = (0..count as u32)
            .map(|at| Cell::builder(at, 0).at_durability(salsa::Durability::HIGH).new(&database))
            .collect();
        let sinks = sinks.into_iter().map(|sink| cells[sink as usize]).collect();
        database.cells = Arc::new(cells);
        let salsa = Self { database, heads, sinks };
        salsa.values();
        salsa
    }

    /// Sets one head and brings all sinks up to date.
    pub fn frame(&mut self, number: u64) {
        let head = self.database.cell((number as usize % self.heads) as u32);
        head.set_number(&mut self.database).to(number);
        for &sink in &self.sinks {
            black_box(value(&self.database, sink));
        }
    }

    /// The values of the sinks.
    pub fn values(&self) -> Vec<u64> {
        self.sinks.iter().map(|&sink| value(&self.database, sink)).collect()
    }
}
