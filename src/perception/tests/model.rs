//! The model: it keeps all frames, and computes every pipeline from scratch.

use super::host::Host;
use super::*;
use crate::perception::cognition::picture_of;
use crate::perception::image::{Image, check_shape};
use crate::perception::place::expand;
use crate::perception::{Call, Failure, Picture, Seen, Value};

/// A cognition.
pub enum Spec {
    Host(Host, Traits),
    Operator(Operator),
}

/// A step of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSpec {
    pub cognition: usize,
    pub part: Rect,
    pub tolerance: u8,
    pub parameters: Vec<u8>,
}

/// A pipeline, with those that it reads.
#[derive(Clone, Debug)]
pub struct PipeSpec {
    pub inputs: Vec<PipeSpec>,
    pub steps: Vec<StepSpec>,
}

impl PipeSpec {
    /// The steps with a tolerance, also those of its inputs.
    pub fn tolerant_steps(&self) -> Vec<&StepSpec> {
        let own = self.steps.iter().filter(|step| step.tolerance > 0);
        own.chain(self.inputs.iter().flat_map(Self::tolerant_steps)).collect()
    }

    pub fn is_volatile(&self, specs: &[Spec]) -> bool {
        let is_volatile = |step: &StepSpec| match &specs[step.cognition] {
            Spec::Host(host, _) => host.kind.is_volatile,
            Spec::Operator(_) => false,
        };
        self.steps.iter().any(is_volatile) || self.inputs.iter().any(|input| input.is_volatile(specs))
    }
}

/// A result. Values of operators have two words, those of the host mean one.
#[derive(Debug)]
pub struct Made {
    pub value: [u64; 2],
    image: Option<Image>,
}

/// The pixels that a tolerant step sees, in a frame of one shape. `None`: it is not inside of the frame.
pub fn watched(specs: &[Spec], step: &StepSpec, shape: Shape) -> Option<Rect> {
    let support = if let Spec::Host(_, traits) = &specs[step.cognition] { traits.support } else { 0 };
    let part = if step.part.is_empty() { shape.bounds() } else { step.part };
    shape.has(part).then(|| expand(part, support, shape))
}

/// The result of a pipeline on a frame. `None`: it fails. `frame_of` has the frame that a first step sees.
pub fn compute<'a>(
    specs: &[Spec],
    pipe: &PipeSpec,
    frame_of: &dyn Fn(&StepSpec) -> &'a Canvas,
    number: u64,
) -> Option<Made> {
    let mut inputs = vec![];
    for input in &pipe.inputs {
        inputs.push(compute(specs, input, frame_of, number)?);
    }
    for (index, step) in pipe.steps.iter().enumerate() {
        let made = if index == 0 && pipe.inputs.is_empty() {
            run(&specs[step.cognition], step, &[(Some(frame_of(step).view()), [0; 2])], number)?
        } else {
            let seen: Vec<_> = inputs.iter().map(|made| (made.image.as_ref().map(Image::view), made.value)).collect();
            run(&specs[step.cognition], step, &seen, number)?
        };
        inputs = vec![made];
    }
    inputs.pop()
}

fn run(spec: &Spec, step: &StepSpec, inputs: &[(Option<View<'_>>, [u64; 2])], number: u64) -> Option<Made> {
    let support = if let Spec::Host(_, traits) = spec { traits.support } else { 0 };
    let mut seen = vec![];
    for (view, _) in inputs {
        let Some(view) = view else {
            if !step.part.is_empty() {
                return None;
            }
            seen.push(None);
            continue;
        };
        let shape = view.shape();
        let part = if step.part.is_empty() { shape.bounds() } else { step.part };
        if !shape.has(part) {
            return None;
        }
        let readable = expand(part, support, shape);
        let inner = Rect::new(part.x - readable.x, part.y - readable.y, part.width, part.height);
        seen.push(Some(Seen { view: view.crop(readable), part: inner }));
    }
    match spec {
        Spec::Host(host, traits) => {
            let first = seen.iter().flatten().next();
            let shape_of = |picture: Picture| {
                let part = first.map_or(Rect::default(), |seen| seen.part);
                let shape = first.map(|seen| Shape::new(seen.view.shape().format, part.width, part.height));
                let part = Rect::new(0, 0, part.width, part.height);
                picture_of(picture, shape, part, traits.scale).unwrap_or_default()
            };
            let shape = traits.picture.map(shape_of);
            if shape.is_some_and(|shape| check_shape(shape).is_err()) {
                return None;
            }
            let mut image = shape.map(|shape| Image::new(shape).unwrap());
            let values: Vec<_> = inputs.iter().map(|(_, value)| Value(*value)).collect();
            let mut failure = Failure::EMPTY;
            let mut call = Call {
                seen: &seen,
                values: &values,
                parameters: &step.parameters,
                frame: number,
                picture: image.as_mut().map(Image::view_mut),
                value: Value::default(),
                failure: &mut failure,
                is_alone: true,
            };
            let is_made = crate::perception::Cognition::perceive(host, &mut call);
            let value = call.value.0;
            is_made.then_some(Made { value, image })
        }
        Spec::Operator(operator) => {
            let views: Vec<_> = seen.iter().map(|seen| seen.map(|seen| seen.cropped())).collect::<Option<_>>()?;
            let shapes: Vec<_> = views.iter().map(View::shape).collect();
            // Its part is the crop.
            let crop = Operator::Crop { area: shapes[0].bounds() };
            let is_crop = matches!(operator, Operator::Crop { .. });
            let operator = if is_crop { &crop } else { operator };
            // Counts can be cropped, too.
            let shape = if is_crop && shapes.len() == 1 { Some(shapes[0]) } else { operator.output(&shapes).ok()? };
            let mut image = shape.map(|shape| Image::new(shape).unwrap());
            let mut value = [0; 2];
            if operator.reach().is_some() {
                let image = image.as_mut().unwrap();
                let bounds = image.shape().bounds();
                operator.apply(&views, &mut image.view_mut(), bounds);
            } else {
                let mut state = operator.state(&shapes).unwrap();
                let mut view = image.as_mut().map(Image::view_mut);
                operator.measure(&mut state, &views, None, &Executor::inline(), view.as_mut(), &mut value);
            }
            Some(Made { value, image })
        }
    }
}
