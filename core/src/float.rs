//! Functions of real numbers where there is no standard library: those of `libm`, by the same names, so
//! that formulas read alike.

/// What `f64` lacks without the standard library.
pub(crate) trait Float: Sized {
    fn ceil(self) -> Self;
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn exp_m1(self) -> Self;
    fn floor(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn log10(self) -> Self;
    fn log2(self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn powi(self, exponent: i32) -> Self;
    fn round(self) -> Self;
    fn sqrt(self) -> Self;
}

macro_rules! from_libm {
    ($($name:ident = $function:ident)+) => {$(
        #[inline]
        fn $name(self) -> Self {
            libm::$function(self)
        }
    )+};
}

impl Float for f64 {
    from_libm! {
        ceil = ceil
        exp = exp
        exp2 = exp2
        exp_m1 = expm1
        floor = floor
        ln = log
        ln_1p = log1p
        log10 = log10
        log2 = log2
        round = round
        sqrt = sqrt
    }

    #[inline]
    fn powf(self, exponent: Self) -> Self {
        libm::pow(self, exponent)
    }

    #[inline]
    fn powi(self, exponent: i32) -> Self {
        libm::pow(self, exponent.into())
    }
}
